#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes the current digests of the base images' tags into Dockerfile and .ko.yaml (or the
# given files). With --check it does not contact a registry; it fails unless every base
# image has a digest.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
check=""
if [[ "${1:-}" == --check ]]; then
  check="yes"
  shift
fi
files=("${@:-}")
if [[ -z "${files[0]}" ]]; then
  files=("${root}/Dockerfile" "${root}/.ko.yaml")
fi

failed=""
for file in "${files[@]}"; do
  mapfile -t images < <(sed -nE 's/^(ARG [A-Z]+_IMAGE=|defaultBaseImage: )//p' "${file}")
  if ((${#images[@]} == 0)); then
    echo "${file} names no base image" >&2
    exit 1
  fi
  for image in "${images[@]}"; do
    if [[ -n "${check}" ]]; then
      if [[ ! "${image}" =~ @sha256:[0-9a-f]{64}$ ]]; then
        echo "$(basename "${file}"): ${image} has no digest: run make update-base-images and commit the result" >&2
        failed="yes"
      fi
      continue
    fi
    tag="${image%@*}"
    digest="$(go tool -modfile="${root}/hack/release/go.mod" crane digest "${tag}")"
    sed -i "s|=${image}\$|=${tag}@${digest}|; s|: ${image}\$|: ${tag}@${digest}|" "${file}"
    echo "${tag}@${digest}"
  done
done

[[ -z "${failed}" ]]
