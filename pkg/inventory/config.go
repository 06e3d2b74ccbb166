// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// Client writes inventories; the generated typed client implements it.
type Client = publish.Client[*api.NodeInventory]

// Config configures a [Publisher]. All fields are required, except those optional in
// [publish.Config].
type Config struct {
	// Config has the interval of --publish-interval.
	publish.Config
	// AdvertiseAddr is the host:port at which other hosts reach this node's sandboxd. It
	// is published unchanged.
	AdvertiseAddr string

	Sandboxd Sandboxd
	Claims   Claims
	Client   Client
}

// validate reports everything that is wrong with the configuration.
func (c Config) validate() error {
	errs := []error{c.Validate("publish interval", map[string]bool{
		"sandboxd": c.Sandboxd == nil, "claims": c.Claims == nil, "client": c.Client == nil,
	})}
	if err := validateAddr(c.AdvertiseAddr); err != nil {
		errs = append(errs, fmt.Errorf("advertised sandboxd address %q: %w", c.AdvertiseAddr, err))
	}
	return errors.Join(errs...)
}

func validateAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("not host:port: %w", err)
	}
	if host == "" {
		return errors.New("has no host: other hosts cannot reach the node without one")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return nil
}

// onlyLocal reports whether only this host can use the address. Any other host name is
// resolved by its user.
func onlyLocal(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
