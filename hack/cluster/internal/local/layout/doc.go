// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package layout says where everything of the local cluster lies: its files below the state folder, and its addresses
// in the network.
package layout
