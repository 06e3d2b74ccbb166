// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// Client reads, watches and applies claim statuses; the generated typed client is
// one.
type Client interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*api.NodeClaimStatus, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*api.NodeClaimStatus, error)
}

// Nodes reads Node objects; client-go's typed client is one.
type Nodes interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Node, error)
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
	Nodes    Nodes
	// Observe is told how each cycle ended: nil when the object is up to date,
	// whether or not there was anything to write.
	Observe func(err error)
}

// validate reports everything that is wrong with the configuration.
func (c Config) validate() error {
	var errs []error
	if problems := validation.IsDNS1123Subdomain(c.NodeName); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("node name %q cannot name an object: %s", c.NodeName, strings.Join(problems, ", ")))
	}
	if c.Interval <= 0 {
		errs = append(errs, fmt.Errorf("claim status interval %v is not above zero: set one, such as 10s", c.Interval))
	}
	if c.Table == nil || c.Provider == nil || c.Sandboxd == nil || c.Client == nil || c.Nodes == nil {
		errs = append(errs, errors.New("table, provider, sandboxd, client and nodes are all needed"))
	}
	return errors.Join(errs...)
}
