// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
)

// Client reads, watches and applies claim statuses; the generated typed client is
// one.
type Client interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*api.NodeClaimStatus, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*api.NodeClaimStatus, error)
}

// Config is what a [Publisher] works with. All of it but Observe is required.
type Config struct {
	// NodeName is the name of the virtual node, and so of the object.
	NodeName string
	// Interval is the least time between two publications
	// (--claim-status-interval).
	Interval time.Duration

	Table    Table
	Provider Provider
	Sandboxd func() Reachability
	Client   Client
	Node     nodeobject.NodeGetter
	// Observe is told how each cycle ended: nil when the object is up to date,
	// whether or not there was anything to write.
	Observe func(err error)
}

// validate reports everything that is wrong with the configuration.
func (c Config) validate() error {
	errs := []error{nodeobject.CheckConfig(c.NodeName, "claim status interval", c.Interval)}
	if c.Table == nil || c.Provider == nil || c.Sandboxd == nil || c.Client == nil || c.Node == nil {
		errs = append(errs, errors.New("table, provider, sandboxd, client and node are all needed"))
	}
	return errors.Join(errs...)
}
