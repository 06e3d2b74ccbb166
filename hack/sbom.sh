#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes the SBOM (CycloneDX, JSON) of a Go program from the module list in the program.
# The same program always gives the same SBOM.
#   hack/sbom.sh <program> <file>

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

exec go tool -modfile="${root}/hack/release/go.mod" cyclonedx-gomod \
  bin -json -std -noserial -notimestamp -output "$2" "$1"
