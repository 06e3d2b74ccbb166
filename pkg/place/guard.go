// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

const (
	// retryEvery is the pause between two attempts to read the cluster's identity. A
	// daemon must serve within seconds of the API server's return.
	retryEvery = time.Second
	// approvalEvery is the pause between two checks of a mismatch and its approval.
	approvalEvery = 5 * time.Second
	// recheckEvery is the pause between two reads once the table is accepted. Verify
	// reads for each verdict that would release, so these reads matter for idle daemons
	// only.
	recheckEvery = time.Minute
	// readTimeout bounds one read.
	readTimeout = 10 * time.Second
)

// Table is the part of the claims table that the guard uses.
type Table interface {
	Place() claims.Place
	SetPlace(claims.Place) error
}

// Config configures a [Guard]. All fields but Host are required.
type Config struct {
	Table   Table
	Cluster Cluster
	// Host is this host's id; empty if it is not known or not checked.
	Host string
	// FS and StatePath locate the table; the approval and the report are beside it.
	FS        claimfile.FS
	StatePath string
	// ApproveCommand is the command that an operator runs on the host to let the daemon
	// use the table here. It is logged with a mismatch.
	ApproveCommand string
}

// Guard compares the table's recorded place with the present one. It is safe for
// concurrent use.
type Guard struct {
	config   Config
	admitted chan struct{}
	reads    sharedReads
	// switched receives the UID of another cluster that a verification found.
	switched chan types.UID

	mu     sync.Mutex
	status Status
}

// New returns a guard in the state [Unknown]. Start it with [Guard.Run].
func New(c Config) *Guard {
	g := &Guard{
		config: c, admitted: make(chan struct{}), switched: make(chan types.UID, 1),
		status: Status{State: Unknown, Recorded: c.Table.Place(), Present: claims.Place{Host: c.Host}},
	}
	g.reads.read = g.read
	return g
}

// Admitted is closed once the table is accepted and its place is on disk.
func (g *Guard) Admitted() <-chan struct{} { return g.admitted }

// Status returns the latest result of the guard. It does not block.
func (g *Guard) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.status
}

func (g *Guard) setStatus(s Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status = s
}

// Run admits the daemon as soon as the table is accepted, and then checks that the API
// server still belongs to the same cluster. It returns nil when ctx ends. If another
// cluster answers, it returns an error that is [ErrOtherCluster]; the process must then
// end, because its knowledge of Pods and owners mixes two clusters. Run may be called
// once.
func (g *Guard) Run(ctx context.Context) error {
	admission := admission{guard: g, logged: map[string]bool{}}
	for !admission.try(ctx) {
		if !sleep(ctx, admission.pause()) {
			return nil
		}
	}
	close(g.admitted)
	return g.watch(ctx)
}

// watch returns when another cluster answers, or ctx ends.
func (g *Guard) watch(ctx context.Context) error {
	ticker := time.NewTicker(recheckEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case uid := <-g.switched:
			return g.clusterChanged(uid)
		case <-ticker.C:
			uid, err := g.read(ctx)
			switch {
			case err != nil:
				klog.FromContext(ctx).V(4).Info("The cluster's identity could not be read", "err", err)
			case uid != g.config.Table.Place().Cluster:
				return g.clusterChanged(uid)
			}
		}
	}
}

// clusterChanged records that cluster uid answers in place of the table's, and returns
// the error that ends the daemon.
func (g *Guard) clusterChanged(uid types.UID) error {
	s := Status{State: OtherCluster, Recorded: g.config.Table.Place(), Present: claims.Place{Cluster: uid, Host: g.config.Host}}
	g.setStatus(s)
	return fmt.Errorf("%w: check KUBECONFIG and the address of the API server; %v", ErrOtherCluster, s)
}

// read is one read of the cluster's identity.
func (g *Guard) read(ctx context.Context) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return g.config.Cluster.UID(ctx)
}

// sleep reports whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
