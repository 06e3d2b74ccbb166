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
)

// run serves until the context ends or a listener fails. It calls ready when every listener is open; the
// control listener is nil where it is disabled.
func run(ctx context.Context, args []string, ready func(api []net.Listener, control net.Listener)) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := o.readTokens(); err != nil {
		return err
	}
	api, control, err := o.open(ctx)
	if err != nil {
		return err
	}
	server, err := sandboxdsim.New(o.config)
	if err != nil {
		return errors.Join(err, closeAll(append(api, control)))
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
	if control != nil {
		serve(server.ServeControl, control)
	}
	running.Go(func() { server.Run(ctx) })
	o.config.Logger.Info("Serving", "api", o.listen, "control", o.controlListen, "ownerAddr", o.config.AdvertiseAddr, "stateDir", o.config.StateDir, "tokenFile", o.tokenFile)
	ready(api, control)
	running.Wait()
	o.config.Logger.Info("Stopped")
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

func (o *options) readTokens() (err error) {
	if o.config.RootToken, err = readOrMakeToken(o.tokenFile); err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	if o.tenantTokenFile != "" {
		if o.config.TenantToken, err = readToken(o.tenantTokenFile); err != nil {
			return fmt.Errorf("--tenant-token-file: %w", err)
		}
	}
	return nil
}

// open opens the listeners, and advertises the first where nothing else is advertised.
func (o *options) open(ctx context.Context) (api []net.Listener, control net.Listener, err error) {
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
	if o.config.AdvertiseAddr == "" {
		first, isTCP := api[0].Addr().(*net.TCPAddr)
		if !isTCP || first.IP.IsUnspecified() {
			return api, control, errors.New("--advertise-addr: set it, because --listen names no address that a client could use")
		}
		o.config.AdvertiseAddr = first.String()
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
