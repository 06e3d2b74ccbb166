#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Prints the path of promtool, which tests the chart's alerts: the one in PATH, else the
# one of Debian's package, unpacked into the user's cache folder without installation. A
# build from source would take ten minutes because of Prometheus' cloud clients.

set -o errexit -o nounset -o pipefail

if command -v promtool; then
  exit
fi
cache="${XDG_CACHE_HOME:-${HOME}/.cache}/vk-sandbox/promtool"
if [[ ! -x "${cache}/promtool" ]]; then
  if ! command -v apt-get >/dev/null; then
    echo "promtool is not in PATH; install it with Prometheus" >&2
    exit 1
  fi
  work="$(mktemp -d)"
  trap 'rm -rf "${work}"' EXIT
  cd "${work}"
  # The package can only be found in the package index.
  apt-get download prometheus >&2 || { apt-get update >&2 && apt-get download prometheus >&2; }
  dpkg-deb --extract prometheus_*.deb root
  mkdir -p "${cache}"
  # The rename is atomic, so concurrent runs leave one complete program.
  mv root/usr/bin/promtool "${cache}/promtool.$$"
  mv "${cache}/promtool.$$" "${cache}/promtool"
fi
echo "${cache}/promtool"
