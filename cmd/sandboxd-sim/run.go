// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
)

// run serves until the context ends or a listener fails.
func run(ctx context.Context, o *options, ready func(api []net.Listener, control net.Listener)) (err error) {
	c, err := o.config()
	if err != nil {
		return err
	}
	api, controlAPI, err := o.open(ctx, &c)
	if err != nil {
		return err
	}
	server, err := sandboxdsim.New(c)
	if err != nil {
		return errors.Join(err, closeAll(append(api, controlAPI)))
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	serve := func(do func(context.Context, net.Listener) error, l net.Listener) {
		running.Go(func() {
			if err := do(ctx, l); err != nil {
				cancel(fmt.Errorf("serve %s: %w", l.Addr(), err))
			}
		})
	}
	for _, l := range api {
		serve(server.Serve, l)
	}
	if controlAPI != nil {
		serve(func(ctx context.Context, l net.Listener) error {
			return server.ServeControl(ctx, l, control.Handler(server))
		}, controlAPI)
	}
	running.Go(func() { server.Run(ctx) })
	c.Logger.Info("Serving", "api", o.listen, "control", o.controlListen, "ownerAddr", c.AdvertiseAddr, "stateDir", c.StateDir, "tokenFile", o.tokenFile)
	ready(api, controlAPI)
	running.Wait()
	c.Logger.Info("Stopped")
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// open opens the listeners. If no address is advertised, it advertises the first.
func (o *options) open(ctx context.Context, c *config.Config) (api []net.Listener, control net.Listener, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(append(api, control)))
		}
	}()
	var listen net.ListenConfig
	for _, addr := range o.listen {
		l, err := listen.Listen(ctx, "tcp", addr)
		if err != nil {
			return api, control, fmt.Errorf("--listen: %w", err)
		}
		api = append(api, l)
	}
	if o.controlListen != "" {
		if control, err = listen.Listen(ctx, "tcp", o.controlListen); err != nil {
			return api, nil, fmt.Errorf("--control-listen: %w", err)
		}
	}
	if c.AdvertiseAddr == "" {
		first, isTCP := api[0].Addr().(*net.TCPAddr)
		if !isTCP || first.IP.IsUnspecified() {
			return api, control, errors.New("--advertise-addr: set it, because --listen names no address that a client could use")
		}
		c.AdvertiseAddr = first.String()
	}
	return api, control, nil
}

func closeAll(listeners []net.Listener) error {
	var errs []error
	for _, l := range listeners {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}
