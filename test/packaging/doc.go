// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package packaging tests what is made around the program: its image with a
// container engine and with ko, its SBOM, its packages and its systemd unit, each
// made with the tool that makes a release. It needs Linux, root and the Debian
// packages that hack/test-packaging.sh installs.
package packaging
