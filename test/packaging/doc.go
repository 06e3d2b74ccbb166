// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package packaging tests the artifacts of the program: its image, built with a container
// engine and with ko, its SBOM, its packages and its systemd unit. Each is built with the
// tool of a release. The tests need Linux, root and the Debian packages that
// hack/test-packaging.sh installs.
package packaging
