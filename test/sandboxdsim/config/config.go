// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

// The lengths of leases in the sandboxd API.
const (
	// DefaultTTL is the lease of a claim that asks for ttl_seconds 0.
	DefaultTTL = 5 * time.Minute
	// MaxTTL is the longest lease a claim or a renewal gets; more is cut down to it.
	MaxTTL = 24 * time.Hour
)

// Redirect says when a claim is answered with the names of the peers instead of a sandbox.
type Redirect string

const (
	// RedirectNever never names peers.
	RedirectNever Redirect = "never"
	// RedirectFull names peers where the node would answer 429 because of max_claims.
	RedirectFull Redirect = "full"
	// RedirectMiss names peers on RedirectFull's occasion and whenever the pool has no warm VM.
	RedirectMiss Redirect = "miss"
)

// Config describes a simulated node. The zero value of every field but RootToken and Pools is usable.
type Config struct {
	// RootToken is the node's api_token. Required.
	RootToken string
	// TenantToken may create claims and nothing else. Empty: there is no tenant.
	TenantToken string
	// AdvertiseAddr is the owner_addr (host:port) of every claim. Default 127.0.0.1:7777.
	AdvertiseAddr string
	// Peers are the host:port addresses in /v1/info and in redirects.
	Peers []string
	// Pools are the warm pools; net and size default as in a claim, and a key without a pool is refused with 400. A net other than "none" is an
	// egress lane, and the node has the attachment for every lane that one of these pools uses. A set that PUT /v1/pools
	// has left in the state directory takes the place of this one.
	Pools []Pool
	// MaxClaims bounds the claims held on the node, archived ones excepted. 0: no bound; negative: no claim.
	MaxClaims int
	// TenantMaxClaims bounds the claims made with TenantToken in the same way.
	TenantMaxClaims int
	// Redirect says when peers are named. Default RedirectNever. It has no effect without Peers.
	Redirect Redirect
	// RetryAfter goes out with every 429, in whole seconds. Default 1 s.
	RetryAfter time.Duration
	// ArchiveAfter archives a sandbox that has been hibernated that long. 0: only the control API archives.
	ArchiveAfter time.Duration
	// ArchiveRetention is the lease of an archived sandbox, from the moment of archiving. Default 7 days.
	ArchiveRetention time.Duration
	// RefillInterval is the time Server.Run leaves between two steps of Host.Refill. Default 250 ms.
	RefillInterval time.Duration
	// ReapInterval is the time Server.Run leaves between two steps of Host.Reap. Default 1 s.
	ReapInterval time.Duration
	// Latency is how long provisioning takes. The zero value takes no time; see [RealLatency].
	Latency Latency
	// Rebuild says what the index answers at first, whenever kept state has been loaded.
	Rebuild fault.Rebuild
	// StateDir keeps the VMs and the history over a restart of the process. Empty: memory, which
	// survives Server.Restart only.
	StateDir string
	// Clock is the source of time. Default: the real clock (virtual inside a synctest bubble).
	Clock clock.WithTicker
	// Rand is the source of ids, tokens and latencies. Default: crypto/rand. A seeded reader makes
	// a run repeatable.
	Rand io.Reader
	// Logger receives every transition at verbosity 1. The zero value logs nothing.
	Logger klog.Logger
}

// WithDefaults returns the configuration with a value in every field that needs one.
func (c Config) WithDefaults() Config {
	if c.AdvertiseAddr == "" {
		c.AdvertiseAddr = "127.0.0.1:7777"
	}
	if c.Redirect == "" {
		c.Redirect = RedirectNever
	}
	c.Pools = slices.Clone(c.Pools)
	for i := range c.Pools {
		c.Pools[i].Key = c.Pools[i].WithDefaults()
	}
	c.RetryAfter = orDefault(c.RetryAfter, time.Second)
	c.ArchiveRetention = orDefault(c.ArchiveRetention, 7*24*time.Hour)
	c.RefillInterval = orDefault(c.RefillInterval, 250*time.Millisecond)
	c.ReapInterval = orDefault(c.ReapInterval, time.Second)
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	return c
}

// Validate returns what is wrong with a configuration that has its defaults.
func (c Config) Validate() error {
	if c.RootToken == "" {
		return errors.New("no root token: set Config.RootToken")
	}
	if c.RootToken == c.TenantToken {
		return errors.New("the root and the tenant token are the same: give each its own")
	}
	if len(c.Pools) == 0 {
		return errors.New("no pool: every claim would be refused; configure at least one")
	}
	if err := ValidatePools(c.Pools); err != nil {
		return err
	}
	if err := c.Rebuild.Validate(); err != nil {
		return err
	}
	return c.Redirect.Validate()
}

// Attached reports whether the node has the attachment for an egress lane. The default net needs none.
func (c Config) Attached(net string) bool {
	return net == DefaultNet || slices.ContainsFunc(c.Pools, func(p Pool) bool { return p.Net == net })
}

// Validate returns an error for an unknown value.
func (r Redirect) Validate() error {
	switch r {
	case RedirectNever, RedirectFull, RedirectMiss:
		return nil
	}
	return fmt.Errorf("unknown redirect %q: use %s, %s or %s", r, RedirectNever, RedirectFull, RedirectMiss)
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}
