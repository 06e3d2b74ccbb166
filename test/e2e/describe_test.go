// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
)

// describe returns the context of a failure: the Pods and events of a namespace, the
// daemons' logs, and the simulators' record of the namespace.
func (s *suite) describe(ctx context.Context, namespace string) string {
	var b strings.Builder
	section := func(title string, text string, err error) {
		fmt.Fprintf(&b, "--- %s\n%s", title, text)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
		}
	}
	kubectl := func(title string, args ...string) {
		text, err := s.kubectl(ctx, append(args, "--request-timeout=10s")...)
		section(title, text, err)
	}
	kubectl("nodes", "get", "nodes", "--output=wide")
	kubectl("claims", "get", "nodeclaimstatuses", "--output=yaml")
	kubectl("Pods", "--namespace="+namespace, "get", "pods", "--output=yaml")
	kubectl("events", "--namespace="+namespace, "get", "events", "--sort-by=.metadata.creationTimestamp")
	kubectl("daemon Pods", "--namespace="+release, "get", "pods", "--output=wide")
	kubectl("daemon logs", "--namespace="+release, "logs", "--selector="+ofTheDaemon, "--prefix", "--tail=60")
	for _, h := range s.info.Hosts {
		all, err := s.simHistory(ctx, h)
		var lines strings.Builder
		for _, e := range all.Events {
			if strings.HasPrefix(e.ClaimRef, namespace+"/") {
				fmt.Fprintf(&lines, "%s %s %s %s by %s\n", e.Time.Format("15:04:05.000"), e.Type, e.Sandbox, e.ClaimRef, e.By)
			}
		}
		section("simulator of "+h.Name, lines.String(), err)
	}
	return b.String()
}
