// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim runs the whole provider in one process under virtual time. It uses the
// real claims table on a file system that fails and crashes, the real client against
// the simulated sandboxd, and the real delete authorization against an API server that
// fails and lags. A stand-in for virtual-kubelet drives it.
//
// A history is a list of random steps. After each step the model checks the rules of
// docs/architecture.md. At the end all faults are lifted, and all work must finish. A
// fault of one sandbox may stay; it must not delay other sandboxes.
//
// A release is authorized by the last controller that the Pod had. An earlier
// controller counts only while the daemon cannot know the change or cannot have
// recorded it: its cache has not shown the change, or the daemon ended within a minute
// after that. Nothing is destroyed while its Pod lives, and nothing in another cluster.
// A restore of the API server authorizes nothing: if it removes several Pods together
// with their owners, their sandboxes live for the hold's duration.
//
// A sandbox whose Pod had a random name may also be released some minutes after the
// Pod was deleted, because no other Pod can adopt it.
//
// After a restart of sandboxd the list and the single reads can be wrong together for
// four minutes. The list alone can be wrong for any time.
//
// The steps, the World and the scenarios live here. The parts of the simulated host
// have packages of their own: apiserver, kubelet and model.
package sim
