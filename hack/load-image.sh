#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the image of bin/vk-sandbox and gives it to every host of the cluster.
# Prints its reference. The tag follows the content, so that another build is
# another image, and a Pod's image says which build it runs.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

digest="$(sha256sum bin/vk-sandbox)"
image="vk-sandbox:${digest:0:12}"
bin/cluster load-image --name="${image}" --binary=bin/vk-sandbox --entrypoint=/vk-sandbox >&2
echo "${image}"
