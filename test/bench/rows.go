// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/cocoonstack/vk-sandbox/test/bench/results"
)

// The counts of Pods that follow from --pods.
func (o *options) few() int  { return o.pods / 5 }
func (o *options) many() int { return 2 * o.pods }

// early and late are the Pods of the burst of many Pods that are compared.
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
	rowLate         = "burst scaling: bound→Running p50 around Pod %d"
	rowWide         = "%d daemons started in one second: cluster-wide lists"
	rowPeak         = "most requests of theirs in 100 ms, per daemon"
)

func rowAll(n int) string     { return fmt.Sprintf("%d Pods: all Running", n) }
func rowMiddle(n int) string  { return fmt.Sprintf("%d Pods: bound→Running p50", n) }
func rowSlow(n int) string    { return fmt.Sprintf("%d Pods: bound→Running p95", n) }
func rowDeleted(n int) string { return fmt.Sprintf("%d Pods deleted, owners gone: none left", n) }
func rowClaim(n int) string {
	return fmt.Sprintf("%d SandboxClaims of a warm pool of as many: claim→Ready p50", n)
}
func rowSlowClaim(n int) string {
	return fmt.Sprintf("%d SandboxClaims of a warm pool of as many: claim→Ready p95", n)
}
func rowBudget(n int) string { return fmt.Sprintf("%d Pods at default flags: all Running", n) }
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
func rows(o *options) []*results.Row {
	const kwok = "KWOK"
	budget := float64(max(0, o.pods-defaultBurst))/defaultQPS + 2
	return []*results.Row{
		{What: rowAll(o.pods), Unit: results.Seconds, Other: kwok, Target: results.AtMost(1)},
		{What: rowMiddle(o.pods), Unit: results.Seconds, Other: kwok, Target: results.AtMost(0.8)},
		{What: rowSlow(o.pods), Unit: results.Seconds, Other: kwok, Target: results.AtMost(1)},
		{What: rowMiddle(o.few()), Unit: results.Seconds, Other: kwok, Target: results.AtMost(0.8)},
		{What: rowSlow(o.few()), Unit: results.Seconds, Other: kwok, Target: results.AtMost(1)},
		{What: rowDeleted(o.pods), Unit: results.Seconds, Other: kwok, Target: results.AtMost(1)},
		{What: rowClaim(o.pods), Unit: results.Seconds, Other: kwok, Target: results.AtMost(1.1)},
		{What: rowSlowClaim(o.pods), Unit: results.Seconds, Other: kwok, Target: results.AtMost(1.1)},
		{What: rowBudget(o.pods), Unit: results.Seconds, Target: results.AtMost(budget)},
		{What: rowBudgetBound(o.pods), Unit: results.Seconds, Target: results.AtMost(budget)},
		{What: of(rowRestart, o.many()), Unit: results.Seconds, Target: results.AtMost(5)},
		{What: rowRestartWrite, Unit: results.Count, Target: results.AtMost(0)},
		{What: of(rowRequests, o.many()), Unit: results.PerSecond, Target: results.AtMost(0.2)},
		{What: rowLists, Unit: results.Count, Target: results.AtMost(0)},
		{What: rowCPU, Unit: results.Percent, Target: results.AtMost(1)},
		{What: of(rowMemory, o.many()), Unit: results.Mebibytes, Target: results.AtMost(80)},
		{What: rowBinary, Unit: results.Mebibytes, Target: results.AtMost(50)},
		{What: rowParallel, Unit: results.PerSecond, Other: "one in flight", Target: results.AtLeast(30)},
		{What: rowOne, Unit: results.Seconds, Other: "bare write", Target: results.AtMost(1.5)},
		// The file of 10,000 rows has five times the bytes.
		{What: rowGrowth, Unit: results.Seconds, Other: "2000 rows", Target: results.AtMost(5)},
		{What: of(rowLate, o.late()), Unit: results.Seconds, Other: fmt.Sprintf("Pod %d", o.early()), Target: results.AtMost(1.3)},
		{What: of(rowWide, o.daemons), Unit: results.Count, Target: results.AtMost(0)},
		{What: rowPeak, Unit: results.Count, Target: results.AtMost(1)},
	}
}
