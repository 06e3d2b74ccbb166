// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// LabelResult is the label that says how something ended.
const LabelResult = "result"

// Results of what succeeds or fails.
const (
	Success = "success"
	Error   = "error"
)

// Outcomes are the results of what has no other ones.
func Outcomes() []string { return []string{Success, Error} }

// Outcome is the result of what ended with that error, or with nil.
func Outcome(err error) string {
	if err != nil {
		return Error
	}
	return Success
}

// CallBuckets reach from an answer on loopback to the limit of a claim, in
// seconds.
func CallBuckets() []float64 {
	return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60}
}

// Bool is 1 for true and 0 for false.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Seconds is a time as Prometheus counts it, in seconds since 1970.
func Seconds(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }

// Texts is each value as text.
func Texts[T ~string](values []T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
