// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"flag"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local"
)

func newDriver() (driver, error) {
	return selectDriver(func(s settings) (driver, error) { return local.New(s.state, s.source, s.progress) })
}

// hostInit is the first process of a host; up starts it, not a person.
func hostInit(ctx context.Context, args []string) (int, error) {
	var o local.InitOptions
	flags := flag.NewFlagSet("host-init", flag.ContinueOnError)
	flags.StringVar(&o.Name, "name", "", "")
	flags.StringVar(&o.Root, "root", "", "")
	flags.Func("keep", "", func(folder string) error { o.Keep = append(o.Keep, folder); return nil })
	if code, ok := noArguments(flags, args); !ok {
		return code, nil
	}
	return 0, local.Init(ctx, o, os.NewFile(3, "ready"))
}
