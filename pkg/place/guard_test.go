// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// What the guard makes of each record, in cluster c on host h.
func TestAdmission(t *testing.T) {
	for name, tc := range map[string]struct {
		fsys  *faultfs.FS
		host  string
		state place.State
		disk  claims.Place
	}{
		"first start":                       {faultfs.New(), "h", place.Accepted, claims.Place{Cluster: "c", Host: "h"}},
		"first start, no host id":           {faultfs.New(), "", place.Accepted, claims.Place{Cluster: "c"}},
		"table of an older build":           {fileOf(""), "h", place.Accepted, claims.Place{Cluster: "c", Host: "h"}},
		"match":                             {fileOf(`{"cluster":"c","host":"h"}`), "h", place.Accepted, claims.Place{Cluster: "c", Host: "h"}},
		"host not recorded":                 {fileOf(`{"cluster":"c"}`), "h", place.Accepted, claims.Place{Cluster: "c", Host: "h"}},
		"cluster not recorded":              {fileOf(`{"host":"h"}`), "h", place.Accepted, claims.Place{Cluster: "c", Host: "h"}},
		"host not known now":                {fileOf(`{"cluster":"c","host":"h"}`), "", place.Accepted, claims.Place{Cluster: "c", Host: "h"}},
		"other cluster":                     {fileOf(`{"cluster":"d","host":"h"}`), "h", place.OtherCluster, claims.Place{Cluster: "d", Host: "h"}},
		"other cluster, host not recorded":  {fileOf(`{"cluster":"d"}`), "h", place.OtherCluster, claims.Place{Cluster: "d"}},
		"other cluster and host":            {fileOf(`{"cluster":"d","host":"i"}`), "h", place.OtherCluster, claims.Place{Cluster: "d", Host: "i"}},
		"other host":                        {fileOf(`{"cluster":"c","host":"i"}`), "h", place.OtherHost, claims.Place{Cluster: "c", Host: "i"}},
		"other host, cluster not recorded":  {fileOf(`{"host":"i"}`), "h", place.OtherHost, claims.Place{Host: "i"}},
		"a place that cannot be read":       {fileOf(`["c","h"]`), "h", place.OtherCluster, claims.Place{Cluster: claims.UnreadableCluster}},
		"a place that cannot be read, null": {fileOf(`null`), "h", place.OtherCluster, claims.Place{Cluster: claims.UnreadableCluster}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := start(t, tc.fsys, &cluster{uid: "c"}, tc.host)
				time.Sleep(time.Hour)
				if got := d.Status(); got.State != tc.state || d.open() != (tc.state == place.Accepted) {
					t.Errorf("status %+v, admitted %v; want %s", got, d.open(), tc.state)
				}
				if got := onDisk(t, tc.fsys); got != tc.disk {
					t.Errorf("on disk %+v, want %+v", got, tc.disk)
				}
				if err := d.Verify(t.Context()); (err == nil) != (tc.state == place.Accepted) {
					t.Errorf("Verify = %v", err)
				}
				report, found, err := place.ReadReport(tc.fsys, statePath, tc.disk)
				if found != d.Status().Mismatch() || err != nil || found && report != d.Status() {
					t.Errorf("report %+v, %v, %v; status %+v", report, found, err, d.Status())
				}
				if err := d.end(); err != nil {
					t.Errorf("Run = %v", err)
				}
			})
		})
	}
}

// Without an answer nothing is admitted and nothing recorded; with one the daemon
// serves within seconds.
func TestAPIServerAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{err: errors.New("connection refused")}
		d := start(t, fileOf(""), c, "h")
		time.Sleep(time.Hour)
		if d.open() || d.Status().State != place.Unknown || onDisk(t, d.fsys) != (claims.Place{}) {
			t.Fatalf("admitted %v, status %+v, on disk %+v", d.open(), d.Status(), onDisk(t, d.fsys))
		}
		c.set("c", nil)
		time.Sleep(2 * time.Second)
		if !d.open() {
			t.Error("not admitted 2 s after the API server came back")
		}
		c.set("", errors.New("connection refused"))
		time.Sleep(time.Hour)
		if d.Status().State != place.Accepted {
			t.Errorf("status %+v while the API server is away again", d.Status())
		}
		if err := d.end(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// A read that hangs ends, and the next one is tried.
func TestReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{uid: "c", takes: time.Hour}
		d := start(t, fileOf(""), c, "h")
		time.Sleep(5 * time.Second)
		c.mu.Lock()
		c.takes = 0
		c.mu.Unlock()
		time.Sleep(10 * time.Second)
		if !d.open() {
			t.Error("not admitted once reads are answered")
		}
		_ = d.end()
	})
}

// The place counts once it is on disk: a daemon that served before could come back
// without it, and take the next cluster's.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, fileOf(""), &cluster{err: errors.New("away")}, "h")
		d.fsys.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		d.cluster.set("c", nil)
		time.Sleep(time.Hour)
		if d.open() {
			t.Fatal("admitted without its place on disk")
		}
		d.fsys.SetFault(nil)
		time.Sleep(2 * time.Second)
		if !d.open() || onDisk(t, d.fsys) != (claims.Place{Cluster: "c", Host: "h"}) {
			t.Errorf("admitted %v, on disk %+v", d.open(), onDisk(t, d.fsys))
		}
		_ = d.end()
	})
}

// What could not be written beside the table is written once it can be: without it
// the operator's command has nothing to approve.
func TestReportAfterAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, fileOf(`{"cluster":"d"}`), &cluster{err: errors.New("away")}, "h")
		d.fsys.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		d.cluster.set("c", nil)
		time.Sleep(time.Minute)
		d.fsys.SetFault(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if _, found, err := place.ReadReport(d.fsys, statePath, claims.Place{Cluster: "d"}); !found || err != nil {
			t.Errorf("report there: %v, %v", found, err)
		}
		// It says nothing of a table that has another place since.
		if _, found, err := place.ReadReport(d.fsys, statePath, claims.Place{Cluster: "c"}); found || err != nil {
			t.Errorf("an old report counts: %v, %v", found, err)
		}
		_ = d.end()
	})
}

// An approval lets in what the operator saw, within 5 s, and nothing else.
func TestApproval(t *testing.T) {
	recorded, present := claims.Place{Cluster: "d", Host: "i"}, claims.Place{Cluster: "c", Host: "h"}
	for name, tc := range map[string]struct {
		recorded, present claims.Place
		admitted          bool
	}{
		"of this mismatch":     {recorded, present, true},
		"of another cluster":   {recorded, claims.Place{Cluster: "e", Host: "h"}, false},
		"of another host":      {recorded, claims.Place{Cluster: "c", Host: "j"}, false},
		"of another record":    {claims.Place{Cluster: "e", Host: "i"}, present, false},
		"of nothing":           {claims.Place{}, claims.Place{}, false},
		"the other way around": {present, recorded, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := start(t, fileOf(`{"cluster":"d","host":"i"}`), &cluster{uid: "c"}, "h")
				approve(t, d.fsys, tc.recorded, tc.present)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				want := recorded
				if tc.admitted {
					want = present
				}
				if d.open() != tc.admitted || onDisk(t, d.fsys) != want {
					t.Errorf("admitted %v, on disk %+v; want %v, %+v", d.open(), onDisk(t, d.fsys), tc.admitted, want)
				}
				for _, file := range d.fsys.Names() {
					if strings.Contains(file, "approval") || tc.admitted && strings.HasSuffix(file, ".place") {
						t.Errorf("%s was left", file)
					}
				}
				_ = d.end()
				// It was for once: a restart asks for nothing, and grants nothing.
				if again := start(t, d.fsys, &cluster{uid: "c"}, "h"); again.open() != tc.admitted {
					t.Errorf("admitted after a restart: %v", again.open())
				} else {
					_ = again.end()
				}
			})
		})
	}
}

// An approval that was given while no daemon ran is taken at the next start, and one
// whose record cannot be written stays until it can.
func TestApprovalSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := fileOf(`{"cluster":"d"}`)
		approve(t, fsys, claims.Place{Cluster: "d"}, claims.Place{Cluster: "c", Host: "h"})
		c := &cluster{err: errors.New("away")}
		d := start(t, fsys, c, "h")
		fsys.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		c.set("c", nil)
		time.Sleep(time.Minute)
		if _, found, err := approval.Read(fsys, statePath, approval.Place); d.open() || !found || err != nil {
			t.Fatalf("admitted %v, approval there %v, %v", d.open(), found, err)
		}
		fsys.SetFault(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !d.open() {
			t.Error("not admitted")
		}
		_ = d.end()
	})
}

// A mismatch that ends needs no operator and leaves nothing behind: an approval prepared
// for it is removed and cannot take effect later.
func TestMismatchGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, fileOf(`{"cluster":"c","host":"h"}`), &cluster{uid: "d"}, "h")
		if d.Status().State != place.OtherCluster {
			t.Fatalf("status %+v", d.Status())
		}
		d.cluster.set("c", nil)
		approve(t, d.fsys, claims.Place{Cluster: "c", Host: "h"}, claims.Place{Cluster: "d", Host: "h"})
		time.Sleep(6 * time.Second)
		if !d.open() {
			t.Error("not admitted in its own cluster")
		}
		if names := d.fsys.Names(); !slices.Equal(names, []string{statePath}) {
			t.Errorf("files %q", names)
		}
		_ = d.end()
	})
}

// A daemon that runs ends when another cluster answers, and the next one stays out.
func TestClusterIsSwitched(t *testing.T) {
	for name, found := range map[string]func(*testing.T, *daemon){
		"found by the watch":      func(*testing.T, *daemon) { time.Sleep(time.Minute) },
		"found by a verification": func(t *testing.T, d *daemon) { _ = d.Verify(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := start(t, fileOf(""), &cluster{uid: "c"}, "h")
				if !d.open() {
					t.Fatal("not admitted")
				}
				time.Sleep(time.Hour)
				d.cluster.set("d", nil)
				found(t, d)
				synctest.Wait()
				select {
				case err := <-d.ended:
					if !errors.Is(err, place.ErrOtherCluster) {
						t.Errorf("Run = %v", err)
					}
				default:
					t.Fatal("the guard goes on")
				}
				if d.Status().State != place.OtherCluster {
					t.Errorf("status %+v", d.Status())
				}
				next := start(t, d.fsys, d.cluster, "h")
				time.Sleep(time.Hour)
				if next.open() || onDisk(t, d.fsys).Cluster != "c" {
					t.Errorf("admitted %v, on disk %+v", next.open(), onDisk(t, d.fsys))
				}
				_ = next.end()
			})
		})
	}
}

// A daemon that waits for days logs what changes, once, and with the command that
// accepts the place.
func TestLogsChangesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		c := &cluster{err: errors.New("away")}
		d := startIn(klog.NewContext(t.Context(), log), t, fileOf(`{"cluster":"c","host":"h"}`), c, "h")
		for _, uid := range []types.UID{"d", "e"} {
			time.Sleep(time.Hour)
			c.set(uid, nil)
		}
		time.Sleep(time.Hour)
		_ = d.end()
		if len(lines) != 3 {
			t.Fatalf("%d lines, want one for the wait and one for each other cluster:\n%s", len(lines), strings.Join(lines, "\n"))
		}
		for _, want := range []string{`"cluster"="e"`, `"recordedCluster"="c"`, `"accept"="approve the place"`} {
			if !strings.Contains(lines[2], want) {
				t.Errorf("line %s, want %s in it", lines[2], want)
			}
		}
	})
}
