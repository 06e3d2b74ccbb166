// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
)

// Client writes inventories, by server-side apply only; the generated typed client
// is one.
type Client interface {
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*api.NodeInventory, error)
}

// Config is what a [Publisher] works with. All of it but Observe is required.
type Config struct {
	// NodeName is the name of the virtual node, and so of the inventory.
	NodeName string
	// Interval is the time between publications (--publish-interval).
	Interval time.Duration
	// AdvertiseAddr is the host:port that others reach this node's sandboxd at
	// (--sandboxd-advertise-addr). It is published as it stands.
	AdvertiseAddr string

	Sandboxd Sandboxd
	Claims   Claims
	Client   Client
	Node     nodeobject.NodeGetter
	// Observe is told how each cycle ended: nil when the inventory was
	// published.
	Observe func(err error)
}

// validate reports everything that is wrong with the configuration.
func (c Config) validate() error {
	errs := []error{nodeobject.CheckConfig(c.NodeName, "publish interval", c.Interval)}
	if err := validateAddr(c.AdvertiseAddr); err != nil {
		errs = append(errs, fmt.Errorf("advertised sandboxd address %q: %w", c.AdvertiseAddr, err))
	}
	if c.Sandboxd == nil || c.Claims == nil || c.Client == nil || c.Node == nil {
		errs = append(errs, errors.New("sandboxd, claims, client and node are all needed"))
	}
	return errors.Join(errs...)
}

func validateAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("not host:port: %w", err)
	}
	if host == "" {
		return errors.New("has no host, and others cannot reach a node without one")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return nil
}

// onlyLocal reports whether no other host can use the address. A name that is
// neither an address nor localhost is left to the resolver of whoever uses it.
func onlyLocal(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
