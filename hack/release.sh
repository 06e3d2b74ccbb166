#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Publishes the release of the checked-out tag: programs, packages, SBOMs and checksums
# with goreleaser, then the image with ko, for both architectures. RELEASE_IMAGE is the
# image's repository; both tools must be logged in, and GITHUB_TOKEN must be set.
# --snapshot publishes nothing: it builds everything but the image from the checkout into
# dist/. --check builds nothing: goreleaser only checks its configuration.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# goreleaser has more dependencies than all other tools together, and only a release needs
# it. So it is not a tool of the main module.
goreleaser() { go run github.com/goreleaser/goreleaser/v2@v2.15.1 "$@"; }

export VERSION="${VERSION:-$(git describe --tags --always --dirty)}"
case "${1:-}" in
  --snapshot)
    goreleaser release --snapshot --clean
    exit
    ;;
  --check)
    hack/update-base-images.sh --check
    goreleaser check
    exit
    ;;
esac

image="${RELEASE_IMAGE:-ghcr.io/cocoonstack/vk-sandbox}"
hack/update-base-images.sh --check
if [[ "$(git describe --tags --exact-match 2>/dev/null)" != "${VERSION}" ]]; then
  echo "${VERSION} is not a checked-out tag: commit all changes and create the tag first" >&2
  exit 1
fi
goreleaser release --clean
# The chart uses the version without the v.
KO_DOCKER_REPO="${image}" go tool -modfile=hack/release/go.mod ko build ./cmd/vk-sandbox --bare --tags="${VERSION#v}" --sbom=spdx \
  --image-user=65532:65532 \
  --image-label="org.opencontainers.image.source=https://github.com/cocoonstack/vk-sandbox" \
  --image-label="org.opencontainers.image.licenses=Apache-2.0" \
  --image-label="org.opencontainers.image.version=${VERSION}"
