// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

const helpHeader = `vk-sandbox serves a virtual Kubernetes node whose Pods are claims on the host's
sandboxd.

Usage: vk-sandbox [flags]
       vk-sandbox claims [flags]   print this host's claims from their file
       vk-sandbox approve place|missing-owners [flags]
                                   let the daemon do what it waits for an operator to decide
       vk-sandbox check [flags]    prove an installation with a claim on every virtual node

A flag wins over its environment variable. Kubernetes is reached with the
in-cluster configuration, or without one with the kubeconfig at $KUBECONFIG.
`

// helpWidth is the width of the help text, in characters.
const helpWidth = 100

// usage is the help text: the flags by group, each with its environment
// variable.
func usage() string {
	var groups []string
	flags, variables := map[string]*pflag.FlagSet{}, map[string]string{}
	for _, s := range settings(&options{}) {
		if flags[s.group] == nil {
			groups = append(groups, s.group)
			flags[s.group] = pflag.NewFlagSet(s.group, pflag.ContinueOnError)
			flags[s.group].SortFlags = false
		}
		if s.flag == "" {
			variables[s.group] += fmt.Sprintf("  %s, an environment variable only: %s (default %s)\n", s.env, s.usage, s.fallback)
			continue
		}
		if s.env != "" {
			s.usage += " [" + s.env + "]"
		}
		addFlag(flags[s.group], s)
	}
	var b strings.Builder
	b.WriteString(helpHeader)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s:\n%s%s", g, flags[g].FlagUsagesWrapped(helpWidth), variables[g])
	}
	return b.String()
}
