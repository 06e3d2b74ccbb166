// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"errors"
)

func newDriver() (driver, error) {
	return selectDriver(func(settings) (driver, error) {
		return nil, errors.New("the local cluster runs on Linux only; set CLUSTER=kind to use kind and Docker")
	})
}

// hostInit is the first process of a host of the local cluster.
func hostInit(context.Context, []string) (int, error) {
	return 0, errors.New("host-init runs on Linux only")
}
