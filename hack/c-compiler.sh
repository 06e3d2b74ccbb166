#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Ensures that a C compiler is installed, which the race detector needs. As root on
# Debian it installs one; otherwise it prints what to install.

set -o errexit -o nounset -o pipefail

cc="$(go env CC)"
if command -v "${cc%% *}" >/dev/null; then
  exit 0
fi
if [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  echo "the race detector needs a C compiler: installing gcc and libc6-dev" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -qq -y --no-install-recommends gcc libc6-dev >&2
  exit 0
fi
echo "the race detector needs a C compiler, and ${cc} is missing; install gcc and libc6-dev" >&2
exit 1
