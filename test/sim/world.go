// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
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
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
	"github.com/cocoonstack/vk-sandbox/test/sim/kubelet"
	"github.com/cocoonstack/vk-sandbox/test/sim/model"
)

const (
	rootToken = "CANARY-root-7f3a91"
	tablePath = "/state/claims.json"
)

// World is one host with its sandboxd, its disk and its API server.
// All of it lives in one synctest bubble.
type World struct {
	t        testing.TB
	Sandboxd *sandboxdsim.Server
	FS       *faultfs.FS
	API      *apiserver.API
	// Log is the daemon's log at every verbosity.
	Log *logText
	// Events are the events that the daemon has recorded.
	Events *events

	// Measure enables metrics from the next start of the daemon.
	Measure bool

	address         *apiserver.Address // where the daemon finds its API server
	logger          logr.Logger
	leaks           model.Leaks
	daemon          *daemon
	model           *model.Model
	rng             *rand.Rand
	seed            uint64
	indexWrongUntil time.Time // the end of the last period in which the index was wrong
	// lasting are the faults that stay when all others are lifted.
	lasting []fault.Fault
}

// daemon is one run of the daemon's process.
type daemon struct {
	kubelet  *kubelet.Kubelet
	provider *provider.Provider
	table    *claims.Table
	metrics  *daemonmetrics.Set // nil unless measured
	dead     atomic.Bool
	exited   atomic.Bool // it ended on its own
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// NewWorld returns a host with a warm pool of the given size and no running daemon.
// Call it inside a synctest bubble.
func NewWorld(t testing.TB, seed uint64, warm int) *World {
	t.Helper()
	w := &World{t: t, FS: faultfs.New(), seed: seed, rng: rand.New(rand.NewPCG(seed, 1))}
	var err error
	w.Sandboxd, err = sandboxdsim.New(config.Config{
		RootToken:     rootToken,
		AdvertiseAddr: "10.0.0.5:7777",
		Pools:         []config.Pool{{Key: config.Key{Template: apiserver.Template, Net: config.DefaultNet, Size: config.DefaultSize}, Target: warm}},
		Rand:          rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), 1}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.leaks.Learn(rootToken)
	w.API = apiserver.New(homeCluster, w.leaks.Look)
	w.address = apiserver.NewAddress(w.API)
	w.Events = &events{look: w.leaks.Look}
	w.model = model.New(model.Config{API: w.API, Sandboxd: w.Sandboxd, FS: w.FS, TablePath: tablePath, Leaks: &w.leaks, Host: w})
	w.Log = &logText{look: w.leaks.Look}
	w.logger = logr.FromSlogHandler(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.Level(-10)}))
	return w
}

// Start runs the daemon. Like the program it fails if the table is damaged or cannot be
// written.
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
		Transport: &answers{leaks: &w.leaks, model: w.model, next: alive(w.Sandboxd.Transport())},
	})
	if err != nil {
		cancel()
		return err
	}
	config := &rest.Config{Host: "http://api", Transport: alive(w.address), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	kube := kubernetes.NewForConfigOrDie(config)
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range []apiserver.Kind{apiserver.Sandbox, apiserver.ReplicaSet, apiserver.StatefulSet} {
		kind := schema.FromAPIVersionAndKind(k.APIVersion, k.Name)
		mapper.AddSpecific(kind, kind.GroupVersion().WithResource(k.Resource), kind.GroupVersion().WithResource(strings.ToLower(k.Name)), meta.RESTScopeNamespace)
	}
	d.kubelet = kubelet.New(ctx, w.address)
	w.model.DaemonStarted()
	guard := place.New(place.Config{Table: table, Cluster: place.NewCluster(kube.CoreV1()), FS: w.FS, StatePath: tablePath})
	providerConfig := provider.Config{
		Table: table, Sandboxd: client,
		Owners: ownership.NewAuthorizer(dynamic.NewForConfigOrDie(config), mapper, kube.CoreV1(), guard),
		Pods:   d.kubelet.Lister(), PodsSynced: func() bool { return true }, Shows: d.kubelet.Shows,
		PodClient: kube.CoreV1(), Recorder: w.Events, OrphanScanInterval: time.Minute,
		PodsListed: d.kubelet.Listed, MissingOwnersHold: model.MissingOwnersHold, UnadoptableGrace: model.UnadoptableGrace, LeaseWarning: time.Hour, ReleaseByID: client.ReleaseByID,
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
	d.kubelet.Observe, d.kubelet.Cached = w.model.StatusPublished, w.model.PodCached
	d.done.Go(func() {
		if err := guard.Run(ctx); err != nil {
			// Another cluster answers: the program ends and is started again.
			d.dead.Store(true)
			d.exited.Store(true)
			d.cancel()
		}
	})
	d.done.Go(func() {
		select {
		case <-ctx.Done():
		case <-guard.Admitted():
			d.kubelet.Start(d.provider)
			d.provider.Run(ctx)
		}
	})
	return nil
}

// Stop ends the daemon as SIGTERM does: work in progress is finished.
func (w *World) Stop() {
	if d := w.daemon; d != nil {
		w.daemon = nil
		d.cancel()
		d.kubelet.Wait()
		d.done.Wait()
		if w.FS.Faulty() {
			// Changes that the disk refused are lost with the process.
			w.model.Crashed()
		}
	}
}

// Crash ends the daemon, or with machine the whole host, at any point of its work. No
// further request is sent and no answer arrives. With machine, data that was not
// durable is lost.
func (w *World) Crash(machine bool) {
	if w.daemon != nil {
		w.daemon.dead.Store(true)
	}
	w.FS.Crash()
	w.Stop()
	w.model.Crashed()
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

// Table implements [model.Host]: the running daemon's table, nil without one.
func (w *World) Table() *claims.Table {
	if w.daemon == nil {
		return nil
	}
	return w.daemon.table
}

// IndexWrongUntil implements [model.Host].
func (w *World) IndexWrongUntil() time.Time { return w.indexWrongUntil }

// LastingFaults implements [model.Host].
func (w *World) LastingFaults() []fault.Fault { return w.lasting }

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
