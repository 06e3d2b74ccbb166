// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/program"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// An address that is taken ends the daemon before it touches anything.
func TestMetricsAddressInUse(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	vars := map[string]string{
		"KUBECONFIG": writeKubeconfig(t, dir), "VK_STATE_PATH": filepath.Join(dir, "state", "claims.json"),
		"VK_METRICS_ADDR": taken.Addr().String(),
	}
	var stdout, stderr bytes.Buffer
	if code := execute(nil, environment(vars), &stdout, &stderr); code != program.ExitError {
		t.Errorf("exit code %d, want %d", code, program.ExitError)
	}
	if want := "--metrics-addr (from VK_METRICS_ADDR)"; !strings.Contains(stderr.String(), want) {
		t.Errorf("stderr = %q, want %q in it", &stderr, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory was touched: %v", err)
	}
}

// A daemon that waits for the table's lock is alive, and not ready.
func TestWaitingForTheLock(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	table := filepath.Join(dir, "claims.json")
	lock, err := claimfile.Lock(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	}()
	address := freeAddress(t)
	o, err := parse([]string{"--metrics-addr=" + address, "--state-path=" + table}, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.config(environment(map[string]string{"KUBECONFIG": writeKubeconfig(t, dir)}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, c) }()

	for path, want := range map[string]struct {
		code int
		says string
	}{
		"/healthz":                     {200, "ok"},
		"/readyz":                      {503, "another daemon may hold its lock"},
		"/readyz/claims-table-durable": {503, "claims-table-durable"},
		"/metrics":                     {200, "vk_sandbox_build_info"},
		"/debug/pprof/":                {404, ""},
	} {
		if code, body := get(t, "http://"+address+path); code != want.code || !strings.Contains(body, want.says) {
			t.Errorf("%s = %d %q, want %d and %q in it", path, code, body, want.code, want.says)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("run ended with %v", err)
	}
	if _, err := os.Stat(table); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a daemon that waits wrote the table: %v", err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get asks until somebody listens.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	for {
		answer, err := http.Get(url) //nolint:gosec // an address of this test
		if err != nil {
			if t.Context().Err() != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
}

func TestReadinessChecks(t *testing.T) {
	var r readiness
	failing := func() (names []string) {
		for _, c := range r.checks() {
			if c.Run() != nil {
				names = append(names, c.Name)
			}
		}
		return names
	}
	want := func(names ...string) {
		t.Helper()
		if got := failing(); strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("not ready are %q, want %q", got, names)
		}
	}
	want("claims-table-durable", "claims-table-accepted", "pod-cache", "node-registered")

	disk := faultfs.New()
	table, err := claims.Open(claimfile.New(disk, "/state/claims.json"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.table.Store(table)
	want("claims-table-accepted", "pod-cache", "node-registered")
	accept := guardOf(t, &r, table)
	want("claims-table-accepted", "pod-cache", "node-registered")
	accept("another-cluster")
	want("claims-table-accepted", "pod-cache", "node-registered")
	accept("cluster")
	want("pod-cache", "node-registered")
	disk.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
	if err := table.Add("team-red/a", claims.Row{ID: "sb_1"}, nil); err == nil {
		t.Fatal("a write to a full disk landed")
	}
	want("claims-table-durable", "pod-cache", "node-registered")
	disk.SetFault(nil)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want("pod-cache", "node-registered")

	synced, node := false, make(chan struct{})
	podsSynced, registered := func() bool { return synced }, (<-chan struct{})(node)
	r.podsSynced.Store(&podsSynced)
	r.registered.Store(&registered)
	want("pod-cache", "node-registered")
	synced = true
	want("node-registered")
	close(node)
	want()
}

// guardOf gives r a guard of a table that belongs to the cluster "cluster". The
// returned function has it look in a cluster, and returns when it has.
func guardOf(t *testing.T, r *readiness, table *claims.Table) (look func(uid types.UID)) {
	t.Helper()
	if err := table.SetPlace(claims.Place{Cluster: "cluster"}); err != nil {
		t.Fatal(err)
	}
	guard := func(uid types.UID) *place.Guard {
		return place.New(place.Config{Table: table, Cluster: clusterOf(uid), FS: faultfs.New(), StatePath: "/state/claims.json"})
	}
	r.guard.Store(guard(""))
	return func(uid types.UID) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			g := guard(uid)
			done := make(chan error, 1)
			go func() { done <- g.Run(ctx) }()
			synctest.Wait()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			r.guard.Store(g)
		})
	}
}

// clusterOf is a cluster with that identity.
type clusterOf types.UID

func (c clusterOf) UID(context.Context) (types.UID, error) { return types.UID(c), nil }
