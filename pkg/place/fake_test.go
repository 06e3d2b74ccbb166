// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const statePath = "/state/claims.json"

// cluster answers with a UID or an error, after a while.
type cluster struct {
	mu    sync.Mutex
	uid   types.UID
	err   error
	takes time.Duration
	reads int
}

func (c *cluster) UID(ctx context.Context) (types.UID, error) {
	c.mu.Lock()
	c.reads++
	uid, err, takes := c.uid, c.err, c.takes
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(takes):
		return uid, err
	}
}

func (c *cluster) set(uid types.UID, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uid, c.err = uid, err
}

func (c *cluster) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

// daemon is a guard on a table that starts with file, or without one.
type daemon struct {
	*place.Guard
	fsys    *faultfs.FS
	table   *claims.Table
	cluster *cluster
	stop    context.CancelFunc
	ended   chan error
}

func start(t *testing.T, fsys *faultfs.FS, c *cluster, host string) *daemon {
	t.Helper()
	return startIn(t.Context(), t, fsys, c, host)
}

func startIn(ctx context.Context, t *testing.T, fsys *faultfs.FS, c *cluster, host string) *daemon {
	t.Helper()
	table, err := claims.Open(claimfile.New(fsys, statePath), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	d := &daemon{
		Guard: place.New(place.Config{Table: table, Cluster: c, Host: host, FS: fsys, StatePath: statePath, ApproveCommand: "approve the place"}),
		fsys:  fsys, table: table, cluster: c, stop: stop, ended: make(chan error, 1),
	}
	go func() { d.ended <- d.Run(ctx) }()
	synctest.Wait()
	return d
}

// end stops the guard and returns what Run did.
func (d *daemon) end() error {
	d.stop()
	return <-d.ended
}

func (d *daemon) open() bool {
	select {
	case <-d.Admitted():
		return true
	default:
		return false
	}
}

// fileOf is a disk with a table of that place; "" is a table without one.
func fileOf(placeField string) *faultfs.FS {
	fsys := faultfs.New()
	text := `{"claims":{"ns/a":{"id":"sb_1","token":"t","address":"h:1","podUID":"p"}}`
	if placeField != "" {
		text += `,"place":` + placeField
	}
	fsys.Put(statePath, []byte(text+"}"))
	return fsys
}

func approve(t *testing.T, fsys *faultfs.FS, recorded, present claims.Place) {
	t.Helper()
	a := approval.Approval{At: time.Now(), Recorded: recorded, Present: present}
	if err := approval.Write(fsys, statePath, approval.Place, a); err != nil {
		t.Fatal(err)
	}
}

// onDisk is the place that a restart would find.
func onDisk(t *testing.T, fsys *faultfs.FS) claims.Place {
	t.Helper()
	p, err := claimfile.ReadPlace(fsys, statePath)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
