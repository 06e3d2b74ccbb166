// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// reopen is a restart of the process.
func (b bench) reopen(cfg Config) bench {
	b.Helper()
	b.do(b.Close())
	s, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return bench{b.T, s}
}

func TestRestartKeepsVMs(t *testing.T) {
	for name, restart := range map[string]func(bench, Config) bench{
		"of the daemon": func(b bench, _ Config) bench {
			b.do(b.Restart(RestartOptions{}))
			return b
		},
		"of the process": bench.reopen,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			cfg.StateDir = t.TempDir()
			s, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			b := bench{t, s}
			kept, gone := b.claim(claimBody("a/kept")), b.claim(claimBody("a/gone"))
			b.do(b.Archive(kept.ID))
			b.want(204, "POST", "/v1/sandboxes/"+gone.ID+"/release", gone.Token, "")
			b.do(b.SetCapacity(Capacity{Pools: []PoolCapacity{{Key: testKey, Target: ptr(5), Warm: ptr(1)}}}))
			before, list := b.Truth(EventFilter{}), b.list("")
			b = restart(b, cfg)
			if i := b.poolInfo(); i.Pools[0].Warm != 1 {
				t.Errorf("info %+v", i)
			}
			if got := b.list(""); len(got.Sandboxes) != 1 || got.Sandboxes[0] != list.Sandboxes[0] {
				t.Errorf("list %+v, want %+v", got, list)
			}
			after := b.Truth(EventFilter{})
			if after.Counters.Made != before.Counters.Made || after.Counters.Claimed != before.Counters.Claimed {
				t.Errorf("counters %+v, before %+v", after.Counters, before.Counters)
			}
			for i, e := range after.Events {
				if e.Seq != int64(i)+1 {
					t.Fatalf("event %d has number %d", i, e.Seq)
				}
			}
			c := b.claim(claimBody("a/new"))
			b.wantHistory(c.ID, "made claimed answered")
			b.want(200, "POST", "/v1/sandboxes/"+kept.ID+"/wake", kept.Token, "")
		})
	}
}

func TestRestartLiftsTheDrain(t *testing.T) {
	b := start(t, testConfig())
	b.want(204, "POST", "/v1/drain", rootToken, "")
	b.do(b.Restart(RestartOptions{}))
	if i := b.poolInfo(); i.Draining || i.Pools[0].Warm != 0 {
		t.Errorf("info %+v", i)
	}
	b.claim(claimBody("a/b"))
}

func TestCrashBetweenKeepingAndAnswering(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Endpoint: "claim", Action: ActionRestart, Point: PointResponse, Count: 1})
	if _, err := b.try("POST", "/v1/claim", rootToken, claimBody("a/b")); !errors.Is(err, io.EOF) {
		t.Fatalf("error %v, want EOF", err)
	}
	r := b.list("?claim_ref=a/b").Sandboxes
	if len(r) != 1 {
		t.Fatalf("%d rows after the crash, want 1", len(r))
	}
	b.wantHistory(r[0].ID, "made claimed answer-lost")
}

func TestCrashWhileProvisioning(t *testing.T) {
	cfg := testConfig()
	cfg.Latency = Latency{WarmHit: {time.Second, time.Second}}
	inBubble(t, cfg, func(b bench) {
		failed := make(chan error)
		go func() {
			_, err := b.try("POST", "/v1/claim", rootToken, claimBody("a/b"))
			failed <- err
		}()
		synctest.Wait()
		b.do(b.Restart(RestartOptions{}))
		if err := <-failed; !errors.Is(err, io.EOF) {
			b.Errorf("error %v, want EOF", err)
		}
		if i := b.poolInfo(); i.Claimed != 0 || i.Pools[0].Warm != 2 {
			b.Errorf("info %+v", i)
		}
	})
}

func TestDownTime(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		c := b.claim(claimBody("a/b"))
		b.do(b.Restart(RestartOptions{Down: Duration(time.Minute), Rebuild: Rebuild{Duration(time.Minute), IndexUnavailable}}))
		b.fault(Fault{Endpoint: "healthz", Action: ActionStatus, Status: 500, Count: 1})
		time.Sleep(time.Minute - 1)
		if _, err := b.try("GET", "/healthz", "", ""); !errors.Is(err, io.EOF) {
			b.Errorf("error %v, want EOF", err)
		}
		if err := b.Hibernate(c.ID); err == nil {
			b.Error("a daemon that is down hibernated a sandbox")
		}
		if len(b.Truth(EventFilter{}).VMs) != 2 {
			b.Error("no truth while the daemon is down")
		}
		time.Sleep(time.Nanosecond)
		b.want(500, "GET", "/healthz", "", "")
		b.want(200, "GET", "/healthz", "", "")
		b.want(503, "GET", "/v1/sandboxes", rootToken, "")
		time.Sleep(time.Minute)
		if b.ids() != "a/b" {
			b.Error("the index is not back")
		}
	})
}

func TestRebuild(t *testing.T) {
	for index, want := range map[Index]string{IndexPartial: "a/2", IndexEmpty: ""} {
		t.Run(string(index), func(t *testing.T) {
			cfg := testConfig()
			cfg.StateDir = t.TempDir()
			cfg.Rebuild = Rebuild{Duration(time.Minute), index}
			inBubble(t, cfg, func(b bench) {
				b.claim(claimBody("a/1"))
				b.claim(claimBody("a/2"))
				if got := b.ids(); got != "a/1 a/2" {
					b.Fatalf("%q listed by a node that never ran before", got)
				}
				b = b.reopen(cfg)
				if got := b.ids(); got != want {
					b.Errorf("%q listed while the index is rebuilt, want %q", got, want)
				}
				time.Sleep(time.Minute)
				if got := b.ids(); got != "a/1 a/2" {
					b.Errorf("%q listed afterwards", got)
				}
			})
		})
	}
}

func TestStateDirectory(t *testing.T) {
	cfg := testConfig()
	cfg.StateDir = filepath.Join(t.TempDir(), "state")
	b := start(t, cfg)
	c := b.claim(claimBody("a/b"))
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second simulator on the directory: %v", err)
	}
	file := filepath.Join(cfg.StateDir, "vms", c.ID+".json")
	for path, mode := range map[string]os.FileMode{cfg.StateDir: 0o700, file: 0o600, filepath.Join(cfg.StateDir, "truth.jsonl"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	truth, err := os.ReadFile(filepath.Join(cfg.StateDir, "truth.jsonl"))
	if err != nil || strings.Contains(string(truth), c.Token) {
		t.Errorf("the record has a token, or %v", err)
	}
}

func TestStateAfterACrash(t *testing.T) {
	cfg := testConfig()
	cfg.StateDir = t.TempDir()
	b := start(t, cfg)
	c := b.claim(claimBody("a/b"))
	b.do(b.Close())
	b.do(os.WriteFile(filepath.Join(cfg.StateDir, "vms", "sb_half.json.tmp"), []byte("{"), 0o600))
	f, err := os.OpenFile(filepath.Join(cfg.StateDir, "truth.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	b.do(err)
	_, err = f.WriteString(`{"seq":`)
	b.do(errors.Join(err, f.Close()))
	b = b.reopen(cfg)
	b.wantHistory(c.ID, "made claimed answered")
	b = b.reopen(cfg)
	b.wantHistory(c.ID, "made claimed answered")
	b.do(b.Close())
	b.do(os.WriteFile(filepath.Join(cfg.StateDir, "vms", c.ID+".json"), []byte("{"), 0o600))
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.ID) {
		t.Errorf("a damaged VM file: %v", err)
	}
}

func TestAFullDiskFailsTheClaim(t *testing.T) {
	cfg := testConfig()
	b := start(t, cfg)
	disk := b.env.store
	b.env.store = fullDisk{disk}
	b.want(500, "POST", "/v1/claim", rootToken, claimBody("a/b"))
	if i := b.poolInfo(); i.Claimed != 0 || i.Pools[0].Warm != 2 {
		t.Errorf("info %+v", i)
	}
	b.env.store = disk
	b.claim(claimBody("a/b"))
	if c := b.Truth(EventFilter{}).Counters; c.Claimed != 1 || c.Made != 2 {
		t.Errorf("counters %+v", c)
	}
}

type fullDisk struct{ store }

func (fullDisk) put(vm) error { return errors.New("no space left on device") }
