// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

// options are the flags.
type options struct {
	listen          []string
	controlListen   string
	tokenFile       string
	tenantTokenFile string
	pools           []string
	latency         string
	redirect        string
	rebuildFor      time.Duration
	rebuildIndex    string

	// simulator has the settings that are passed on unchanged.
	simulator config.Config
}

// flags returns the flags, which set o, in the sections of the help text.
func (o *options) flags() (sections cliflag.NamedFlagSets) {
	c := &o.simulator
	fs := sections.FlagSet("Listener")
	fs.StringArrayVar(&o.listen, "listen", []string{"127.0.0.1:7777"}, "`address` of the sandboxd API; repeatable")
	fs.StringVar(&o.controlListen, "control-listen", "127.0.0.1:7778", "`address` of the control API, which asks for no token; empty disables it")
	fs.StringVar(&c.AdvertiseAddr, "advertise-addr", "", "owner_addr of claims, `host:port` (default: the first --listen)")

	fs = sections.FlagSet("State and token")
	fs.StringVar(&c.StateDir, "state-dir", "/var/lib/sandboxd-sim", "`directory` that keeps the VMs and the record over a restart")
	fs.StringVar(&o.tokenFile, "token-file", "", "`file` with the root token; made with a random token when missing (default: token in --state-dir)")
	fs.StringVar(&o.tenantTokenFile, "tenant-token-file", "", "`file` with a tenant's token (default: there is no tenant)")

	fs = sections.FlagSet("Claim")
	fs.StringArrayVar(&o.pools, "pools", []string{"ghcr.io/cocoonstack/sandbox/rt:24.04,net=none,size=small,target=8"},
		"a warm pool, `TEMPLATE[,net=NET][,size=SIZE][,target=N][,golden=BOOL]`; repeatable")
	fs.IntVar(&c.MaxClaims, "max-claims", 0, "most claims on the node; 0 for no bound, negative for none at all")
	fs.IntVar(&c.TenantMaxClaims, "tenant-max-claims", 0, "most claims of the tenant; read like --max-claims")
	fs.DurationVar(&c.RetryAfter, "retry-after", time.Second, "Retry-After of every 429")
	fs.StringSliceVar(&c.Peers, "peers", nil, "`host:port` of other nodes, for /v1/info and redirects")
	fs.StringVar(&o.redirect, "redirect", string(config.RedirectNever), "when a claim is sent to the peers: never, full (instead of 429) or miss (no warm VM either)")

	fs = sections.FlagSet("Timing")
	fs.StringVar(&o.latency, "latency", "real", "provisioning times: real or none")
	fs.DurationVar(&c.RefillInterval, "refill-interval", 250*time.Millisecond, "time in which a pool gets one VM back")
	fs.DurationVar(&c.ReapInterval, "reap-interval", time.Second, "time between two looks for ended leases")
	fs.DurationVar(&c.ArchiveAfter, "archive-after", 0, "archive what has been hibernated that long; 0 for never")
	fs.DurationVar(&c.ArchiveRetention, "archive-retention", 7*24*time.Hour, "lease of an archived sandbox")
	fs.DurationVar(&o.rebuildFor, "rebuild", 0, "time in which the index is not whole after a restart")
	fs.StringVar(&o.rebuildIndex, "rebuild-index", string(fault.IndexUnavailable), "what the index answers in that time: unavailable, partial or empty")

	fs = sections.FlagSet("Logging and information")
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	fs.AddGoFlag(logging.Lookup("v"))
	program.SetDefault(fs, "v", "1")
	return sections
}

// validate returns everything that is invalid.
func (o *options) validate() error {
	c := &o.simulator
	var v program.Validation
	if c.StateDir == "" {
		v.Fail("state-dir", errors.New("name a directory to keep the state in"))
	}
	for _, text := range o.pools {
		if _, err := config.ParsePool(text); err != nil {
			v.Fail("pools", err)
		}
	}
	if o.latency != "real" && o.latency != "none" {
		v.Check("latency", o.latency, errors.New("use real or none"))
	}
	v.Check("retry-after", c.RetryAfter.String(), program.CheckPositive(c.RetryAfter))
	v.Check("refill-interval", c.RefillInterval.String(), program.CheckPositive(c.RefillInterval))
	v.Check("reap-interval", c.ReapInterval.String(), program.CheckPositive(c.ReapInterval))
	v.Check("archive-retention", c.ArchiveRetention.String(), program.CheckPositive(c.ArchiveRetention))
	return v.Err()
}

// config returns the simulator's configuration. It reads the tokens, and generates the
// root token if there is none.
func (o *options) config() (c config.Config, err error) {
	c = o.simulator
	if o.tokenFile == "" {
		o.tokenFile = filepath.Join(c.StateDir, "token")
	}
	if c.RootToken, err = readOrMakeToken(o.tokenFile); err != nil {
		return c, fmt.Errorf("--token-file: %w", err)
	}
	if o.tenantTokenFile != "" {
		if c.TenantToken, err = readToken(o.tenantTokenFile); err != nil {
			return c, fmt.Errorf("--tenant-token-file: %w", err)
		}
	}
	for _, text := range o.pools {
		p, err := config.ParsePool(text)
		if err != nil {
			return c, fmt.Errorf("--pools: %w", err)
		}
		c.Pools = append(c.Pools, p)
	}
	if o.latency == "real" {
		c.Latency = config.RealLatency()
	}
	if o.rebuildFor != 0 {
		c.Rebuild = fault.Rebuild{For: metav1.Duration{Duration: o.rebuildFor}, Index: fault.Index(o.rebuildIndex)}
	}
	c.Redirect = config.Redirect(o.redirect)
	c.Logger = klog.Background()
	return c, nil
}
