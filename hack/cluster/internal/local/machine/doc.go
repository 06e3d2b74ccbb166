// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine changes what the local cluster needs of this machine outside its own folder, and takes the changes
// back: interfaces, firewall rules, kernel settings and packages.
package machine
