// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// CheckListenAddr returns an error unless addr is [host]:port with a port from 0 to 65535.
func CheckListenAddr(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("want [host]:port, such as :10260 or 192.0.2.7:10260")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("port %q is not a number from 0 to 65535", port)
	}
	return nil
}

// CheckHostPort returns an error unless addr is host:port with a port from 1 to 65535.
func CheckHostPort(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return errors.New("want host:port, such as 192.0.2.7:7777")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return nil
}

// CheckNotNegative returns an error for a negative duration.
func CheckNotNegative(d time.Duration) error {
	if d < 0 {
		return errors.New("must not be negative")
	}
	return nil
}

// CheckPositive returns an error for a duration that is not above zero.
func CheckPositive(d time.Duration) error {
	if d == 0 {
		return errors.New("must be above zero")
	}
	return CheckNotNegative(d)
}
