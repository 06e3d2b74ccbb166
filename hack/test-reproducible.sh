#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the daemon twice, each time from a new clone in a different folder with an empty
# build cache. Fails unless both programs are identical. It takes as long as two first
# builds.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

for clone in one other/and-deeper; do
  git clone --quiet "${root}" "${work}/${clone}"
  GOCACHE="${work}/cache" make --no-print-directory -C "${work}/${clone}" bin/vk-sandbox VERSION="${VERSION:-unknown}"
  rm -rf "${work}/cache"
done
sha256sum "${work}"/{one,other/and-deeper}/bin/vk-sandbox | sed "s|${work}/||"
cmp "${work}"/{one,other/and-deeper}/bin/vk-sandbox
