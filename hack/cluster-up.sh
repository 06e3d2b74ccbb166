#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Starts a real Kubernetes with a simulated sandboxd on each host, and installs the
# agent-sandbox controller with its extensions, from the chart and the source of the
# module that hack/agent-sandbox pins. A running cluster is used as it is.
#
#   HOSTS=1    hosts of a new cluster

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin/cluster up --hosts="${HOSTS:-1}" --sandboxd-bin=bin/sandboxd-sim
eval "$(bin/cluster env)"

echo "--- agent-sandbox"
module=sigs.k8s.io/agent-sandbox name=agent-sandbox-controller
CGO_ENABLED=0 go build -C hack/agent-sandbox -trimpath -ldflags='-s -w' -o "${PWD}/bin/${name}" "${module}/cmd/${name}"
source="$(go list -C hack/agent-sandbox -m -f '{{.Dir}}' "${module}")"
version="$(go list -C hack/agent-sandbox -m -f '{{.Version}}' "${module}")"
bin/cluster load-image --name="${name}:${version}" --binary="bin/${name}" --entrypoint="/${name}"
# With several hosts the controller's Pod may run on any of them.
helm upgrade --install agent-sandbox "${source}/helm" --namespace=agent-sandbox-system --create-namespace --set=namespace.create=false \
  --set=image.repository="${name}" --set=image.tag="${version}" --set=controller.extensions=true --wait --timeout=2m >/dev/null
echo "agent-sandbox ${version} is installed, with its extensions"
