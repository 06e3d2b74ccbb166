// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command simhistory shows what really happened to the microVMs of the cluster's
// simulated sandboxds, by their own record: every VM that was ever claimed, for
// whom, whether it is alive, and by whom it was destroyed.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// answerTimeout bounds one question to a simulator.
const answerTimeout = 10 * time.Second

func main() {
	ref := flag.String("ref", "", "show the claims of one Pod only, `namespace/name`")
	var since time.Time
	flag.TextVar(&since, "since", time.Time{}, "leave out VMs claimed before this `time`, in RFC 3339")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *ref, since); err != nil {
		fmt.Fprintln(os.Stderr, "simhistory:", err)
		stop()
		os.Exit(1)
	}
}

// vm is one VM that was claimed at some time.
type vm struct {
	host, id, ref, state, destroyedBy string
	claimedAt                         time.Time
}

func run(ctx context.Context, out io.Writer, ref string, since time.Time) error {
	info, err := clusterinfo.Load(".")
	if err != nil {
		return err
	}
	var all []vm
	for _, h := range info.Hosts {
		answer, cancel := context.WithTimeout(ctx, answerTimeout)
		t, err := control.Client{URL: h.SandboxdControlURL}.History(answer, history.Filter{ClaimRef: ref})
		cancel()
		if err != nil {
			return fmt.Errorf("ask the simulator of %s: %w", h.Name, err)
		}
		all = append(all, claimed(h.Name, t, since)...)
	}
	slices.SortStableFunc(all, func(a, b vm) int { return a.claimedAt.Compare(b.claimedAt) })
	return show(out, all)
}

// claimed returns the VMs that were claimed since then, in the order of that.
func claimed(host string, t history.History, since time.Time) []vm {
	var list []vm
	destroyedBy := map[string]string{}
	for _, e := range t.Events {
		switch e.Type {
		case history.EventClaimed:
			if !e.Time.Before(since) {
				list = append(list, vm{host: host, id: e.Sandbox, ref: e.ClaimRef, claimedAt: e.Time})
			}
		case history.EventReleased, history.EventReaped, history.EventDiscarded, history.EventLost:
			destroyedBy[e.Sandbox] = string(e.By)
		}
	}
	for i := range list {
		v := &list[i]
		v.state, v.destroyedBy = "destroyed", destroyedBy[v.id]
		for _, live := range t.VMs {
			if live.ID == v.id {
				v.state = string(live.State)
			}
		}
	}
	return list
}

func show(out io.Writer, all []vm) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "HOST\tVM\tSTATE\tCLAIM-REF\tDESTROYED-BY")
	alive := 0
	for _, v := range all {
		if v.state != "destroyed" {
			alive++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", v.host, v.id, v.state, cmp.Or(v.ref, "-"), cmp.Or(v.destroyedBy, "-"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "claims: %d, VMs alive: %d, VMs destroyed: %d\n", len(all), alive, len(all)-alive)
	return err
}
