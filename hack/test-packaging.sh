#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the image with Docker or buildah and with ko, the packages and the SBOM, starts
# the systemd unit with a real systemd, and checks the results. Installs the required
# Debian packages.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "--- packaging tests"
if [[ "$(uname -s)" != Linux || "$(id -u)" != 0 ]] || ! command -v apt-get >/dev/null; then
  echo "SKIPPED: the packaging tests; they need root on Linux, and Debian's packages"
  [[ -z "${FAIL_ON_SKIP:-}" ]]
  exit
fi

declare -A packages=([buildah]=buildah [busybox]=busybox-static [systemd-analyze]=systemd [/lib/systemd/systemd]=systemd)
missing=()
for program in "${!packages[@]}"; do
  command -v "${program}" >/dev/null || missing+=("${packages[${program}]}")
done
if ((${#missing[@]} > 0)); then
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

hack/go-test.sh -count=1 -timeout=20m ./test/packaging -binary="${PWD}/bin/vk-sandbox" -version="${VERSION}"
