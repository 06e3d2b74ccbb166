#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Generates everything that follows from pkg/apis: deep copies, registration,
# OpenAPI, clients, apply configurations, listers, informers, and the CRDs in the
# chart. A new API package pkg/apis/<group>/<version> needs no change here: the tags in its
# doc.go select it. Also generates docs/metrics.md from the metrics, and the tables of
# docs/configuration.md from the flags.
#
# The generators are built once into bin/codegen (or $GOBIN).
# UPDATE_API_VIOLATIONS=1 rewrites hack/tools/api-violations.list.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "${root}"

# kube_codegen.sh leaves its reports in the temporary directory.
TMPDIR="$(mktemp -d)"
export TMPDIR
trap 'rm -rf "${TMPDIR}"' EXIT

module="$(go list -m)"
generated="pkg/generated"
crds="charts/vk-sandbox/files/crds"
boilerplate="${root}/hack/boilerplate.go.txt"
export GOBIN="${GOBIN:-${root}/bin/codegen}"

codegen="$(cd hack/tools && go mod download k8s.io/code-generator && go list -m -f '{{.Dir}}' k8s.io/code-generator)"
# shellcheck source=/dev/null
source "${codegen}/kube_codegen.sh"

# Files that are no longer generated must be removed.
rm -rf "${generated}" "${crds}"
find pkg/apis -name 'zz_generated.*.go' -delete
mkdir -p "${generated}"/{applyconfiguration,clientset,informers,listers,openapi} "${crds}"

kube::codegen::gen_helpers \
  --boilerplate "${boilerplate}" \
  --lint-rules known-tags-only \
  pkg/apis

# apimachinery's types are generated too. The report lists the API rules that they break;
# an additional line in it fails the script.
kube::codegen::gen_openapi \
  --boilerplate "${boilerplate}" \
  --output-dir "${generated}/openapi" \
  --output-pkg "${module}/${generated}/openapi" \
  --output-model-name-file zz_generated.model_name.go \
  --report-filename hack/tools/api-violations.list \
  ${UPDATE_API_VIOLATIONS:+--update-report} \
  pkg/apis

kube::codegen::gen_register \
  --boilerplate "${boilerplate}" \
  pkg/apis

schema="${TMPDIR}/schema.json"
go run ./hack/models-schema >"${schema}"

kube::codegen::gen_client \
  --boilerplate "${boilerplate}" \
  --output-dir "${generated}" \
  --output-pkg "${module}/${generated}" \
  --with-applyconfig \
  --applyconfig-openapi-schema "${schema}" \
  --with-watch \
  pkg/apis

# A type without a schema silently becomes untyped, and the fake clientset then merges it
# differently from an API server.
if grep -A1 '^- name: com\.' "${generated}/applyconfiguration/internal/internal.go" | grep -q 'scalar: untyped'; then
  echo "no schema for a type in ${generated}/applyconfiguration/internal: the +k8s:openapi-model-package tag" \
    "of its package must be the import path with the host's labels reversed and dots for slashes" >&2
  exit 1
fi

echo "Generating CRDs"
go tool -modfile=hack/tools/go.mod controller-gen crd paths=./pkg/apis/... "output:crd:artifacts:config=${crds}"

echo "Generating docs/metrics.md"
go run ./hack/metrics-doc >docs/metrics.md

echo "Generating the tables of docs/configuration.md"
go test ./cmd/vk-sandbox -count=1 -run='^TestConfigurationPage$' -update
