#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs agent-sandbox's own end-to-end tests, of the module that hack/agent-sandbox pins,
# on a cluster whose Sandboxes are routed to vk-sandbox. It prints a table of all tests;
# hack/conformance/tests.yaml has the reason for each that is not run. It starts and ends
# a cluster. With KEEP_CLUSTER=1 it uses a running cluster, or starts one, and keeps it.
# HOSTS is the number of hosts of a new cluster, 2 by default.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly release=vk-sandbox-conformance module=sigs.k8s.io/agent-sandbox
work="${PWD}/bin/conformance-tests"

echo "--- conformance tests of agent-sandbox"
if [[ "${CLUSTER:-local}" != kind ]] && [[ "$(uname -s)" != Linux || "$(id -u)" != 0 ]]; then
  echo "SKIPPED: the conformance tests; the cluster they run on needs root on Linux (or CLUSTER=kind)"
  [[ -z "${FAIL_ON_SKIP:-}" ]]
  exit
fi
state="$(realpath --canonicalize-missing "${VK_SANDBOX_CLUSTER_DIR:-.cluster}")"
export VK_SANDBOX_CLUSTER_DIR="${state}"
if [[ -z "${KEEP_CLUSTER:-}" && -e "${state}/cluster.json" ]]; then
  echo "a cluster is up already: end it with \"make cluster-down\", or use and keep it with KEEP_CLUSTER=1" >&2
  exit 1
fi

installed=""
down() {
  local code=$?
  trap - EXIT
  if ((code != 0)); then
    echo "the logs of the tests are kept in ${work}"
  fi
  if [[ -n "${KEEP_CLUSTER:-}" ]]; then
    remove || code=1
  else
    bin/cluster down || code=1
  fi
  exit "${code}"
}

# remove takes away what this script has added to the cluster.
remove() {
  local failed=""
  if [[ -n "${installed}" ]]; then
    kubectl delete --filename=hack/conformance/namespaces.yaml --ignore-not-found || failed=yes
    helm uninstall "${release}" --namespace="${release}" --ignore-not-found --wait --timeout=2m || failed=yes
    # An uninstall keeps the virtual nodes' objects.
    kubectl delete node "${nodes[@]}" --ignore-not-found || failed=yes
    kubectl delete namespace "${release}" --ignore-not-found || failed=yes
  fi
  [[ -z "${failed}" ]]
}
trap down EXIT

if [[ ! -e "${state}/cluster.json" ]]; then
  HOSTS="${HOSTS:-2}" hack/cluster-up.sh
fi
eval "$(bin/cluster env)"
mapfile -t nodes < <(sed -n 's/^ *"name": "\(.*\)".*/\1-sandboxd/p' "${state}/cluster.json")
token_file="$(sed -n 's/^ *"sandboxdTokenFile": "\(.*\)".*/\1/p' "${state}/cluster.json" | head -n 1)"

rm -rf "${work}"
mkdir -p "${work}"
go build -o bin/ ./hack/conformance
go test -C hack/agent-sandbox -c -o "${work}/" "${module}/test/e2e" "${module}/test/e2e/extensions"
source="$(go list -C hack/agent-sandbox -m -f '{{.Dir}}' "${module}")"
image="$(hack/load-image.sh)"

installed=yes
kubectl create namespace "${release}" --dry-run=client --output=json | kubectl apply --filename=-
kubectl label namespace "${release}" pod-security.kubernetes.io/enforce=privileged --overwrite
kubectl --namespace="${release}" create secret generic sandboxd-token --from-file=token="${token_file}" \
  --dry-run=client --output=json | kubectl apply --filename=-
# The chart's CRDs outlive a release. This release takes over those of another one.
helm upgrade --install "${release}" charts/vk-sandbox --namespace="${release}" --hide-notes --take-ownership --wait --timeout=2m \
  --set=sandboxd.existingSecret.name=sandboxd-token --set=routing.enabled=true \
  --set=image.repository="${image%:*}" --set-string=image.tag="${image#*:}"
kubectl --namespace="${release}" rollout status "daemonset/${release}" --timeout=2m
for node in "${nodes[@]}"; do
  kubectl wait --for=create "node/${node}" --timeout=60s
done
kubectl wait --for=condition=Ready "${nodes[@]/#/node/}" --timeout=60s
kubectl apply --filename=hack/conformance/namespaces.yaml
# The API server enforces a policy after a while, and the chart's policies not after this one.
deadline=$((SECONDS + 60))
until [[ "$(kubectl create namespace "${release}-labelled" --dry-run=server --output=jsonpath='{.metadata.labels}')" == *sandbox.cocoonstack.io/runtime* ]]; do
  if ((SECONDS >= deadline)); then
    echo "the API server does not enforce hack/conformance/namespaces.yaml" >&2
    exit 1
  fi
  sleep 1
done

# With the default runtime, the tests that ask for a runtime class use the cluster's own.
# The burst test then takes one small pool of containers that do not end.
export SANDBOX_RUNTIME_CLASS=default SANDBOX_POOL_SIZES=4 SANDBOX_WORKLOAD_SEC=0 SANDBOX_REPORT_DIR="${work}"
bin/conformance --source="${source}" --binaries="${work}" --artifacts="${work}"
