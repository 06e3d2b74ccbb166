// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "runtime/debug"

// version is set by the linker: -X main.version=v1.2.3.
var version string

// buildVersion is the version of this build: the linker's, else the one that
// the module was fetched or built at.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
