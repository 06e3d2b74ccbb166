// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"maps"
	"net"
	"slices"
	"sync"
)

// connections are the open ones, so that a restart can drop them.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]bool
}

func (c *connections) track(l net.Listener) net.Listener { return trackedListener{l, c} }

func (c *connections) drop() {
	c.mu.Lock()
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close() // it is dropped either way
	}
}

func (c *connections) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[net.Conn]bool{}
	}
	c.open[conn] = true
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

type trackedListener struct {
	net.Listener
	conns *connections
}

// Accept implements net.Listener.
func (l trackedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t := &trackedConn{conn, l.conns}
	l.conns.add(t)
	return t, nil
}

type trackedConn struct {
	net.Conn
	conns *connections
}

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	c.conns.remove(c)
	return c.Conn.Close()
}
