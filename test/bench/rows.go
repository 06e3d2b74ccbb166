// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// The counts of Pods that follow from --pods.
func (o *options) few() int  { return o.pods / 5 }
func (o *options) many() int { return 2 * o.pods }

// early and late are the Pods of the growing burst that are compared.
func (o *options) early() int { return o.pods / 2 }
func (o *options) late() int  { return 5 * o.pods }

// Names of rows, as the measurements know them; those of bursts are made by the
// functions below.
const (
	rowRestart      = "restart with %d bound Pods: verified, adopted, Node Ready"
	rowRestartWrite = "writes to the API for those Pods since the restart"
	rowRequests     = "at rest with %d bound Pods: requests to the API"
	rowLists        = "LISTs among them"
	rowCPU          = "CPU at rest, of one core"
	rowMemory       = "resident memory with %d bound Pods"
	rowBinary       = "program, stripped"
	rowParallel     = "durable commits into 2000 rows, 64 in flight"
	rowOne          = "one durable commit into 2000 rows, p50"
	rowGrowth       = "one durable commit into 10000 rows, p50"
	rowLate         = "growing burst: bound→Running p50 around Pod %d"
	rowWide         = "%d daemons started in one second: cluster-wide lists"
	rowPeak         = "most requests of theirs in 100 ms, per daemon"
)

func rowAll(n int) string     { return fmt.Sprintf("%d Pods: all Running", n) }
func rowMiddle(n int) string  { return fmt.Sprintf("%d Pods: bound→Running p50", n) }
func rowSlow(n int) string    { return fmt.Sprintf("%d Pods: bound→Running p95", n) }
func rowDeleted(n int) string { return fmt.Sprintf("%d Pods deleted, owners gone: none left", n) }
func rowBudget(n int) string  { return fmt.Sprintf("%d Pods at default flags: all Running", n) }
func rowBudgetBound(n int) string {
	return fmt.Sprintf("%d Pods bound before the daemon starts, default flags: all Running", n)
}
func of(name string, n int) string {
	return fmt.Sprintf(name, n)
}

// defaultQPS and defaultBurst are the client's budget at default flags.
const (
	defaultQPS   = 200
	defaultBurst = 400
)

// rows are all lines with their targets.
func rows(o *options) []*row {
	const kwok = "KWOK"
	budget := float64(max(0, o.pods-defaultBurst))/defaultQPS + 2
	return []*row{
		{what: rowAll(o.pods), unit: seconds, other: kwok, target: atMost(1)},
		{what: rowMiddle(o.pods), unit: seconds, other: kwok, target: atMost(0.8)},
		{what: rowSlow(o.pods), unit: seconds, other: kwok, target: atMost(1)},
		{what: rowMiddle(o.few()), unit: seconds, other: kwok, target: atMost(0.8)},
		{what: rowSlow(o.few()), unit: seconds, other: kwok, target: atMost(1)},
		{what: rowDeleted(o.pods), unit: seconds, other: kwok, target: atMost(1)},
		{what: rowBudget(o.pods), unit: seconds, target: atMost(budget)},
		{what: rowBudgetBound(o.pods), unit: seconds, target: atMost(budget)},
		{what: of(rowRestart, o.many()), unit: seconds, target: atMost(5)},
		{what: rowRestartWrite, unit: count, target: atMost(0)},
		{what: of(rowRequests, o.many()), unit: perSecond, target: atMost(0.2)},
		{what: rowLists, unit: count, target: atMost(0)},
		{what: rowCPU, unit: percent, target: atMost(1)},
		{what: of(rowMemory, o.many()), unit: mebibytes, target: atMost(80)},
		{what: rowBinary, unit: mebibytes, target: atMost(50)},
		{what: rowParallel, unit: perSecond, other: "one in flight", target: atLeast(30)},
		{what: rowOne, unit: seconds, other: "bare write", target: atMost(1.5)},
		// The file of 10,000 rows has five times the bytes.
		{what: rowGrowth, unit: seconds, other: "2000 rows", target: atMost(5)},
		{what: of(rowLate, o.late()), unit: seconds, other: fmt.Sprintf("Pod %d", o.early()), target: atMost(1.3)},
		{what: of(rowWide, o.daemons), unit: count, target: atMost(0)},
		{what: rowPeak, unit: count, target: atMost(1)},
	}
}
