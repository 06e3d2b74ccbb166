#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the release of the tag that is checked out: programs, packages, SBOMs and
# checksums with goreleaser, then the image with ko, for both architectures.
# RELEASE_IMAGE is the image's repository; both tools have to be logged in, and
# GITHUB_TOKEN has to be set. With --snapshot nothing is published: everything but
# the image is made of whatever is checked out, into dist/. With --check nothing is
# made: goreleaser reads its configuration.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# goreleaser needs several times what all other tools need together, and nothing but
# a release needs it: it is no tool of a module here.
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
  echo "${VERSION} is no tag that is checked out: git tag it first, without changes in the tree" >&2
  exit 1
fi
goreleaser release --clean
# The chart asks for the version without the v.
KO_DOCKER_REPO="${image}" go tool -modfile=hack/release/go.mod ko build ./cmd/vk-sandbox --bare --tags="${VERSION#v}" --sbom=spdx \
  --image-user=65532:65532 \
  --image-label="org.opencontainers.image.source=https://github.com/cocoonstack/vk-sandbox" \
  --image-label="org.opencontainers.image.licenses=Apache-2.0" \
  --image-label="org.opencontainers.image.version=${VERSION}"
