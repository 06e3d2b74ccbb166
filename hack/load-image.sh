#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the image of bin/vk-sandbox, loads it into every host of the cluster and prints
# its reference. The tag depends on the content, so a Pod's image identifies its build.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

digest="$(sha256sum bin/vk-sandbox)"
image="vk-sandbox:${digest:0:12}"
bin/cluster load-image --name="${image}" --binary=bin/vk-sandbox --entrypoint=/vk-sandbox >&2
echo "${image}"
