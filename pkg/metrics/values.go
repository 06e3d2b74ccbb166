// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// LabelResult is the label of an operation's result.
const LabelResult = "result"

// Results of an operation that succeeds or fails.
const (
	Success = "success"
	Error   = "error"
)

// Outcomes returns the possible values of [Outcome].
func Outcomes() []string { return []string{Success, Error} }

// Outcome is the result label for err.
func Outcome(err error) string {
	if err != nil {
		return Error
	}
	return Success
}

// CallBuckets range from an answer on loopback to the timeout of a claim, in seconds.
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

// Seconds is a time in seconds since 1970.
func Seconds(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }

// Texts converts each value to a string.
func Texts[T ~string](values []T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
