// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
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

	config sandboxdsim.Config
}

func parse(args []string) (*options, error) {
	var o options
	c := &o.config
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	if err := logging.Set("v", "1"); err != nil {
		return nil, err
	}
	fs := pflag.NewFlagSet("sandboxd-sim", pflag.ContinueOnError)
	fs.AddGoFlag(logging.Lookup("v"))
	fs.StringArrayVar(&o.listen, "listen", []string{"127.0.0.1:7777"}, "address of the sandboxd API; repeatable")
	fs.StringVar(&o.controlListen, "control-listen", "127.0.0.1:7778", "address of the control API, which asks for no token; empty disables it")
	fs.StringVar(&c.AdvertiseAddr, "advertise-addr", "", "owner_addr of claims, host:port (default: the first --listen)")
	fs.StringVar(&c.StateDir, "state-dir", "/var/lib/sandboxd-sim", "directory that keeps the VMs and the record over a restart")
	fs.StringVar(&o.tokenFile, "token-file", "", "file with the root token; made with a random token when missing (default: token in --state-dir)")
	fs.StringVar(&o.tenantTokenFile, "tenant-token-file", "", "file with a tenant's token (default: there is no tenant)")
	fs.StringArrayVar(&o.pools, "pools", []string{"ghcr.io/cocoonstack/sandbox/rt:24.04,net=none,size=small,target=8"},
		"a warm pool, TEMPLATE[,net=NET][,size=SIZE][,target=N][,golden=BOOL]; repeatable")
	fs.IntVar(&c.MaxClaims, "max-claims", 0, "most claims on the node; 0 for no bound, negative for none at all")
	fs.IntVar(&c.TenantMaxClaims, "tenant-max-claims", 0, "most claims of the tenant; read like --max-claims")
	fs.DurationVar(&c.RetryAfter, "retry-after", time.Second, "Retry-After of every 429")
	fs.StringSliceVar(&c.Peers, "peers", nil, "host:port of other nodes, for /v1/info and redirects")
	fs.StringVar(&o.redirect, "redirect", string(sandboxdsim.RedirectNever), "when a claim is sent to the peers: never, full (instead of 429) or miss (no warm VM either)")
	fs.StringVar(&o.latency, "latency", "real", "provisioning times: real or none")
	fs.DurationVar(&c.RefillInterval, "refill-interval", 250*time.Millisecond, "time in which a pool gets one VM back")
	fs.DurationVar(&c.ReapInterval, "reap-interval", time.Second, "time between two looks for ended leases")
	fs.DurationVar(&c.ArchiveAfter, "archive-after", 0, "archive what has been hibernated that long; 0 for never")
	fs.DurationVar(&c.ArchiveRetention, "archive-retention", 7*24*time.Hour, "lease of an archived sandbox")
	fs.DurationVar(&o.rebuildFor, "rebuild", 0, "time in which the index is not whole after a restart")
	fs.StringVar(&o.rebuildIndex, "rebuild-index", string(sandboxdsim.IndexUnavailable), "what the index answers in that time: unavailable, partial or empty")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: everything is set by flags, see --help", fs.Arg(0))
	}
	return &o, o.complete()
}

// complete turns what was given as text into the configuration.
func (o *options) complete() error {
	c := &o.config
	if c.StateDir == "" {
		return errors.New("--state-dir: name a directory to keep the state in")
	}
	if o.tokenFile == "" {
		o.tokenFile = filepath.Join(c.StateDir, "token")
	}
	for _, text := range o.pools {
		p, err := sandboxdsim.ParsePool(text)
		if err != nil {
			return fmt.Errorf("--pools: %w", err)
		}
		c.Pools = append(c.Pools, p)
	}
	switch o.latency {
	case "real":
		c.Latency = sandboxdsim.RealLatency()
	case "none":
	default:
		return fmt.Errorf("--latency: unknown value %q: use real or none", o.latency)
	}
	for name, d := range map[string]time.Duration{
		"retry-after": c.RetryAfter, "refill-interval": c.RefillInterval,
		"reap-interval": c.ReapInterval, "archive-retention": c.ArchiveRetention,
	} {
		if d <= 0 {
			return fmt.Errorf("--%s: %v is not a positive time", name, d)
		}
	}
	if o.rebuildFor != 0 {
		c.Rebuild = sandboxdsim.Rebuild{For: sandboxdsim.Duration(o.rebuildFor), Index: sandboxdsim.Index(o.rebuildIndex)}
	}
	c.Redirect = sandboxdsim.Redirect(o.redirect)
	c.Logger = klog.Background()
	return nil
}
