// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Healthy is the health of a part that does its work. Any other text says what is wrong.
const Healthy = "healthy"

// Part is a part of a cluster with its health.
type Part struct {
	Name   string
	Health string
	// PID is empty in a cluster whose processes are not this machine's.
	PID string
}

// PrintStatus prints the parts of a cluster with their health, and its hosts with their addresses. If a part is not
// healthy, it returns an error that names it and ends with the hint.
func PrintStatus(out io.Writer, info *Info, parts []Part, hint string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Kubernetes %s at %s\n\n", info.KubernetesVersion, info.APIServer)
	withPID := slices.ContainsFunc(parts, func(p Part) bool { return p.PID != "" })
	printRow(table, "COMPONENT", column(withPID, "PID"), "HEALTH")
	var bad []string
	for _, p := range parts {
		printRow(table, p.Name, column(withPID, p.PID), p.Health)
		if p.Health != Healthy {
			bad = append(bad, p.Name)
		}
	}
	fmt.Fprintln(table)
	withLinks := slices.ContainsFunc(info.Hosts, func(h Host) bool { return h.Link != "" })
	printRow(table, "HOST", "IP", column(withLinks, "PODS"), column(withLinks, "LINK"), "SANDBOXD", "CONTROL")
	for _, h := range info.Hosts {
		printRow(table, h.Name, h.IP, column(withLinks, h.PodCIDR), column(withLinks, h.Link),
			column(true, h.SandboxdAddr), column(true, h.SandboxdControlURL))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("not healthy: %s; %s", strings.Join(bad, ", "), hint)
	}
	return nil
}

// column is a cell with a dash in place of nothing, or no cell where the table has no such column.
func column(there bool, text string) string {
	if !there {
		return ""
	}
	return cmp.Or(text, "-")
}

// printRow prints the cells that are not empty.
func printRow(table io.Writer, cells ...string) {
	fmt.Fprintln(table, strings.Join(slices.DeleteFunc(cells, func(cell string) bool { return cell == "" }), "\t"))
}
