// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// Client reads, watches and applies claim statuses; the generated typed client implements
// it.
type Client interface {
	publish.Client[*api.NodeClaimStatus]
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*api.NodeClaimStatus, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Config configures a [Publisher]. All fields are required, except those optional in
// [publish.Config].
type Config struct {
	// Config has the interval of --claim-status-interval.
	publish.Config

	Table    Table
	Provider Provider
	Client   Client
}

// validate reports everything that is wrong with the configuration.
func (c Config) validate() error {
	return c.Validate("claim status interval", map[string]bool{
		"table": c.Table == nil, "provider": c.Provider == nil, "client": c.Client == nil,
	})
}
