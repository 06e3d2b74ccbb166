// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox/daemonmetrics"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

const (
	// Template is the one pool's template.
	Template  = "ghcr.io/cocoonstack/sandbox/rt:24.04"
	rootToken = "CANARY-root-7f3a91"
	tablePath = "/state/claims.json"
)

// World is one host with its sandboxd, its disk, and the API server it sees.
// Everything in it lives in one synctest bubble.
type World struct {
	t        testing.TB
	Sandboxd *sandboxdsim.Server
	FS       *faultfs.FS
	API      *API
	// Log is what the daemon has logged, at every verbosity.
	Log *logText
	// Events is what the daemon has recorded.
	Events *events

	// Measure gives the next daemon metrics.
	Measure bool

	address *address // where the daemon finds its API server
	logger  logr.Logger
	leak    leaks
	daemon  *daemon
	model   *model
	rng     *rand.Rand
	seed    uint64
	lied    time.Time // when the index last stopped being wrong
	// lasting are the faults that stay when all others are lifted.
	lasting []fault.Fault
}

// daemon is one run of the daemon's process.
type daemon struct {
	kubelet  *kubelet
	provider *provider.Provider
	table    *claims.Table
	metrics  *daemonmetrics.Set // nil unless measured
	dead     atomic.Bool
	exited   atomic.Bool // it ended by itself
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// NewWorld makes a host with a warm pool of the given size. The daemon is not
// started. Call it inside a synctest bubble.
func NewWorld(t testing.TB, seed uint64, warm int) *World {
	t.Helper()
	w := &World{t: t, FS: faultfs.New(), seed: seed, rng: rand.New(rand.NewPCG(seed, 1))}
	var err error
	w.Sandboxd, err = sandboxdsim.New(config.Config{
		RootToken:     rootToken,
		AdvertiseAddr: "10.0.0.5:7777",
		Pools:         []config.Pool{{Key: config.Key{Template: Template, Net: config.DefaultNet, Size: config.DefaultSize}, Target: warm}},
		Rand:          rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), 1}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.leak.learn(rootToken)
	w.API = NewAPI(homeCluster, w.leak.look)
	w.address = &address{api: w.API}
	w.Events = &events{look: w.leak.look}
	w.model = newModel(w)
	w.Log = &logText{look: w.leak.look}
	w.logger = logr.FromSlogHandler(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.Level(-10)}))
	return w
}

// Start runs the daemon. It fails as the program would: on a table that is
// damaged or cannot be written.
func (w *World) Start() error {
	table, err := claims.Open(claimfile.New(w.FS, tablePath), time.Now())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), w.logger))
	d := &daemon{table: table, cancel: cancel}
	alive := func(next http.RoundTripper) http.RoundTripper { return &process{daemon: d, next: next} }
	client, err := sandboxd.NewClient(sandboxd.Config{
		URL: "http://127.0.0.1:7777", Token: sandboxd.StaticToken(sandboxd.NewToken(rootToken)),
		Transport: &answers{leak: &w.leak, model: w.model, next: alive(w.Sandboxd.Transport())},
	})
	if err != nil {
		cancel()
		return err
	}
	config := &rest.Config{Host: "http://api", Transport: alive(w.address), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	kube := kubernetes.NewForConfigOrDie(config)
	mapper := meta.NewDefaultRESTMapper(nil)
	kind := schema.FromAPIVersionAndKind(sandboxAPIVersion, "Sandbox")
	mapper.AddSpecific(kind, kind.GroupVersion().WithResource("sandboxes"), kind.GroupVersion().WithResource("sandbox"), meta.RESTScopeNamespace)
	d.kubelet = newKubelet(ctx, w.address)
	w.model.started()
	guard := place.New(place.Config{Table: table, Cluster: place.NewCluster(kube.CoreV1()), FS: w.FS, StatePath: tablePath})
	providerConfig := provider.Config{
		Table: table, Sandboxd: client,
		Owners: ownership.NewAuthorizer(dynamic.NewForConfigOrDie(config), mapper, kube.CoreV1(), guard),
		Pods:   d.kubelet.lister(), PodsSynced: func() bool { return true }, Shows: d.kubelet.shows,
		PodClient: kube.CoreV1(), Recorder: w.Events, OrphanScanInterval: time.Minute,
		PodsListed: d.kubelet.listed, MissingOwnersHold: missingOwnersHold, ReleaseByID: client.ReleaseByID,
	}
	if w.Measure {
		d.metrics = daemonmetrics.New("sim")
		d.metrics.Claims.Watch(table)
		providerConfig.Sandboxd, providerConfig.Owners = d.metrics.Sandboxd.Measure(client), d.metrics.Owners.Count(providerConfig.Owners)
	}
	d.provider, err = provider.New(providerConfig)
	if err != nil {
		cancel()
		return err
	}
	if w.Measure {
		d.metrics.Provider.Watch(d.provider)
	}
	w.daemon = d
	d.kubelet.observe, d.kubelet.cached = w.model.published, w.model.pods.cached
	d.done.Go(func() {
		if err := guard.Run(ctx); err != nil {
			// Another cluster answers: the program ends, and is started again.
			d.dead.Store(true)
			d.exited.Store(true)
			d.cancel()
		}
	})
	d.done.Go(func() {
		select {
		case <-ctx.Done():
		case <-guard.Admitted():
			d.kubelet.start(d.provider)
			d.provider.Run(ctx)
		}
	})
	return nil
}

// Stop ends the daemon as SIGTERM does: what is in flight is finished.
func (w *World) Stop() {
	if d := w.daemon; d != nil {
		w.daemon = nil
		d.cancel()
		d.kubelet.work.Wait()
		d.done.Wait()
		if w.FS.Faulty() {
			// What the disk did not take is lost with the process.
			w.model.crashed()
		}
	}
}

// Crash ends the daemon, or with machine the whole host, in the middle of
// whatever it does: no request goes out any more, no answer comes in, and with
// the machine goes what was not durable.
func (w *World) Crash(machine bool) {
	if w.daemon != nil {
		w.daemon.dead.Store(true)
	}
	w.FS.Crash()
	w.Stop()
	w.model.crashed()
	if machine {
		w.FS.Reboot(w.rng)
	} else {
		w.FS.Revive()
	}
}

// Wait lets virtual time pass.
func (w *World) Wait(d time.Duration) {
	const step = 5 * time.Second
	for ; d > 0; d -= step {
		time.Sleep(min(d, step))
		if _, err := w.Sandboxd.Reap(); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.Sandboxd.Refill(); err != nil {
			w.t.Fatal(err)
		}
	}
	synctest.Wait()
}

// Close ends everything in the bubble.
func (w *World) Close() {
	w.Stop()
	if err := w.Sandboxd.Close(); err != nil {
		w.t.Error(err)
	}
}

// Table is the running daemon's table; nil while there is none.
func (w *World) Table() *claims.Table {
	if w.daemon == nil {
		return nil
	}
	return w.daemon.table
}

// process stops all traffic of a daemon that has been killed.
type process struct {
	daemon *daemon
	next   http.RoundTripper
}

var errKilled = errors.New("the process was killed")

func (p *process) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.daemon.dead.Load() {
		return nil, errKilled
	}
	resp, err := p.next.RoundTrip(req)
	if p.daemon.dead.Load() {
		return nil, errKilled
	}
	return resp, err
}
