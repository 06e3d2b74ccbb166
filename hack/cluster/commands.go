// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

// command is a sub-command.
type command struct {
	name string
	run  func(ctx context.Context, args []string) (exitCode int, err error)
}

func commands() []command {
	return []command{
		{"up", up},
		{"down", down},
		{"status", status},
		{"load-image", loadImage},
		{"exec", execute},
		{"env", environment},
		{"host-init", hostInit},
	}
}

// parse parses a command's flags. If it is not ok, the command is to return
// the exit code: the flag package has said why.
func parse(flags *flag.FlagSet, args []string) (exitCode int, ok bool) {
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, false
	case err != nil:
		return 2, false
	}
	return 0, true
}

// noArguments parses the flags of a command that takes nothing else.
func noArguments(flags *flag.FlagSet, args []string) (exitCode int, ok bool) {
	code, ok := parse(flags, args)
	if ok && flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "cluster %s takes no argument, but there is %q\n", flags.Name(), flags.Arg(0))
		return 2, false
	}
	return code, ok
}

func up(ctx context.Context, args []string) (int, error) {
	o := cluster.Options{CIDR: netip.MustParsePrefix("10.99.0.0/24")}
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.IntVar(&o.Hosts, "hosts", 1, fmt.Sprintf("`number` of hosts, from 1 to %d", cluster.MaxHosts))
	flags.TextVar(&o.CIDR, "cidr", o.CIDR, "`network` that joins the hosts (not with CLUSTER=kind)")
	flags.StringVar(&o.SandboxdBinary, "sandboxd-bin", "", "`program` to run on each host as its sandboxd; the default is none, or the one that runs already")
	if code, ok := noArguments(flags, args); !ok {
		return code, nil
	}
	if err := o.Complete(); err != nil {
		return 0, err
	}
	d, err := newDriver()
	if err != nil {
		return 0, err
	}
	return 0, d.Up(ctx, o)
}

func down(ctx context.Context, args []string) (int, error) {
	if code, ok := noArguments(flag.NewFlagSet("down", flag.ContinueOnError), args); !ok {
		return code, nil
	}
	d, err := newDriver()
	if err != nil {
		return 0, err
	}
	return 0, d.Down(ctx)
}

func status(ctx context.Context, args []string) (int, error) {
	if code, ok := noArguments(flag.NewFlagSet("status", flag.ContinueOnError), args); !ok {
		return code, nil
	}
	d, err := newDriver()
	if err != nil {
		return 0, err
	}
	return 0, d.Status(ctx, os.Stdout)
}

func loadImage(ctx context.Context, args []string) (int, error) {
	var spec image.Spec
	flags := flag.NewFlagSet("load-image", flag.ContinueOnError)
	flags.StringVar(&spec.Name, "name", "", "`reference` of the image, such as vk-sandbox:dev")
	flags.StringVar(&spec.Binary, "binary", "", "static `program` that the image holds")
	flags.StringVar(&spec.Entrypoint, "entrypoint", "", "absolute `path` of the program in the image; the default is its file name in /")
	if code, ok := noArguments(flags, args); !ok {
		return code, nil
	}
	if spec.Name == "" || spec.Binary == "" {
		return 0, errors.New("load-image needs --name and --binary")
	}
	if spec.Entrypoint == "" {
		spec.Entrypoint = "/" + filepath.Base(spec.Binary)
	}
	d, err := newDriver()
	if err != nil {
		return 0, err
	}
	return 0, d.LoadImage(ctx, spec)
}

func execute(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("exec", flag.ContinueOnError)
	host := flags.String("host", "", "`name` of the host; the default is the first one")
	if code, ok := parse(flags, args); !ok {
		return code, nil
	}
	if flags.NArg() == 0 {
		return 0, errors.New("exec needs a program to run: cluster exec --host=NAME -- PROGRAM [ARGUMENT...]")
	}
	d, err := newDriver()
	if err != nil {
		return 0, err
	}
	if *host == "" {
		if *host, err = firstHost(); err != nil {
			return 0, err
		}
	}
	return d.Exec(ctx, *host, flags.Args())
}

// firstHost returns the name of the cluster's first host.
func firstHost() (string, error) {
	info, err := loadInfo()
	if err != nil {
		return "", err
	}
	return info.Hosts[0].Name, nil
}

func loadInfo() (*cluster.Info, error) {
	state, _, err := folders()
	if err != nil {
		return nil, err
	}
	return cluster.Load(state)
}

func environment(_ context.Context, args []string) (int, error) {
	if code, ok := noArguments(flag.NewFlagSet("env", flag.ContinueOnError), args); !ok {
		return code, nil
	}
	info, err := loadInfo()
	if err != nil {
		return 0, err
	}
	fmt.Printf("export KUBECONFIG=%s\nexport PATH=%s:\"$PATH\"\n", quote(info.Kubeconfig), quote(filepath.Dir(info.Kubectl)))
	return 0, nil
}

// quote makes one word of the shell out of a text.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
