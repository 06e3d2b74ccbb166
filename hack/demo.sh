#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Demonstrates vk-sandbox on a real cluster with the agent-sandbox controller, step by
# step: a Sandbox's Pod becomes a claim on the host's sandboxd; the microVM outlives the
# Pod and ends with the Sandbox; a SandboxClaim gets a running microVM from a warm pool.
# Run it with "make demo". The cluster stays up until "make demo-down".

set -o errexit -o nounset -o pipefail -o errtrace

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly namespace=vk-sandbox release=vk-sandbox daemonset=daemonset/vk-sandbox
readonly sandbox=my-sandbox
ref=default/my-sandbox
readonly claim_annotation='sandbox\.cocoonstack\.io/claim-id'
readonly columns="NAME:.metadata.name,STATUS:.status.phase,IP:.status.podIP,NODE:.spec.nodeName,CLAIM-ID:.metadata.annotations.${claim_annotation}"

bold="" blue="" plain=""
if [[ -t 1 ]]; then
  bold=$'\e[1m' blue=$'\e[34m' plain=$'\e[0m'
fi

step="" number=0 cluster_up=""

# explain prints the title of a step.
explain() {
  step="$1"
  number=$((number + 1))
  printf '\n%s%d. %s%s  [%d s]\n' "${bold}" "${number}" "${step}" "${plain}" "${SECONDS}"
}

# show prints a command and runs it.
show() {
  printf '%s$ %s%s\n' "${blue}" "$(display "$@")" "${plain}"
  "$@"
}

display() {
  local word line=""
  for word in "$@"; do
    if [[ "${word}" =~ [^A-Za-z0-9_./:=,@%+-] ]]; then
      word="'${word}'"
    fi
    line+="${line:+ }${word}"
  done
  printf '%s' "${line}"
}

# on_error prints the failed step and the context of the failure.
on_error() {
  local code=$?
  trap - ERR
  # The shell that waits for this one reports the failure.
  if ((BASH_SUBSHELL > 0)); then
    exit "${code}"
  fi
  {
    printf '\n%sThe demo failed at step %d: %s%s\n' "${bold}" "${number}" "${step}" "${plain}"
    if [[ -n "${cluster_up}" ]]; then
      printf '\n--- Pods and Sandboxes\n'
      kubectl get pods,sandboxes,sandboxwarmpools,sandboxclaims --all-namespaces --output=wide --request-timeout=10s
      printf '\n--- the last events\n'
      kubectl get events --all-namespaces --sort-by=.metadata.creationTimestamp --request-timeout=10s | tail -n 15
      printf '\n--- the last lines of the daemon'\''s log\n'
      kubectl --namespace="${namespace}" logs "${daemonset}" --tail=25 --request-timeout=10s
      printf '\nThe cluster is still up: eval "$(bin/cluster env)" to look around, "make demo-down" to end it.\n'
    fi
  } >&2 || true
  exit "${code}"
}
trap on_error ERR

fail() {
  echo "$1" >&2
  return 1
}

# apply applies an example. A microVM can be adopted only on its own host, so the example's
# Pods select one virtual node.
apply() {
  printf '%s$ kubectl apply --filename=%s   # on %s%s\n' "${blue}" "$1" "${node}" "${plain}"
  kubectl patch --local --filename="$1" --type=merge --output=json \
    --patch='{"spec": {"podTemplate": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "'"${node}"'"}}}}}' | kubectl apply --filename=-
}

# mode sets the Sandbox's operating mode, and waits until the given condition is True.
mode() {
  show kubectl patch sandbox "${sandbox}" --type=merge --patch='{"spec": {"operatingMode": "'"$1"'"}}'
  kubectl wait "sandbox/${sandbox}" --for="condition=$2" --timeout=60s
}

# same_vm shows the Sandbox's Pod, and fails unless it has the first claim.
same_vm() {
  show kubectl get pod "${sandbox}" --output=custom-columns="${columns}"
  simhistory "claims: 1, VMs alive: 1, VMs destroyed: 0"
  if [[ "$(claim_id)" != "${first}" ]]; then
    fail "the new Pod has the claim $(claim_id); it should have adopted ${first}"
  fi
}

# of_host prints a field of the first host in the cluster's description.
of_host() {
  sed -n 's/.*"'"$1"'": "\(.*\)".*/\1/p' "${VK_SANDBOX_CLUSTER_DIR:-.cluster}/cluster.json" | head -n 1
}

# wait_replaced waits until the Sandbox has another, Ready Pod.
wait_replaced() {
  local deadline=$((SECONDS + 60))
  until [[ "$(kubectl get pod "${sandbox}" --ignore-not-found --output=jsonpath='{.metadata.uid}')" != @("$1"|"") ]]; do
    if ((SECONDS >= deadline)); then
      fail "the Pod of the Sandbox was not replaced"
    fi
    sleep 0.2
  done
  kubectl wait "pod/${sandbox}" --for=condition=Ready --timeout=60s >/dev/null
}

# claims shows the node's published claims once one of them is in the given state, or
# once there are none.
claims() {
  local state="$1" count="$2"
  kubectl wait "nodeclaimstatus/${node}" --for=jsonpath="{.status.counts.${state}}=${count}" --timeout=30s >/dev/null
  show kubectl get nodeclaimstatus "${node}"
}

claim_id() {
  kubectl get pod "${sandbox}" --output=jsonpath="{.metadata.annotations.${claim_annotation}}"
}

# simhistory shows what the simulated sandboxd did for the Pod in ref, or for all, and
# fails unless the last line is the one expected. It waits for that a while.
simhistory() {
  local expected="$1" output="" deadline=$((SECONDS + 30))
  while true; do
    output="$(bin/simhistory --ref="${ref}" --since="${started}")"
    if [[ "${output}" == *"${expected}" ]]; then
      break
    fi
    if ((SECONDS >= deadline)); then
      fail "expected \"${expected}\", but the simulator prints:"$'\n'"${output}"
    fi
    sleep 0.5
  done
  printf '%s$ bin/simhistory --ref=%s%s\n%s\n' "${blue}" "${ref}" "${plain}" "${output}"
}

explain "Build the programs"
make --no-print-directory build
started="$(date --utc +%Y-%m-%dT%H:%M:%S.%NZ)"

explain "Start a real Kubernetes on this machine with the agent-sandbox controller, and a simulated sandboxd on each host"
hack/cluster-up.sh
eval "$(bin/cluster env)"
cluster_up=yes
image="$(hack/load-image.sh)"
show kubectl get nodes
show kubectl --namespace=agent-sandbox-system get deployments
# Objects left by an earlier run would have their own claims.
kubectl delete --filename=examples --ignore-not-found >/dev/null

explain "Install the chart: one daemon per host, with sandboxd's token from a Secret"
token_file="$(of_host sandboxdTokenFile)"
kubectl create namespace "${namespace}" --dry-run=client --output=json | kubectl apply --filename=-
show kubectl label namespace "${namespace}" pod-security.kubernetes.io/enforce=privileged --overwrite
kubectl --namespace="${namespace}" create secret generic sandboxd-token --from-file=token="${token_file}" \
  --dry-run=client --output=json | kubectl apply --filename=-
# The chart's CRDs outlive a release. This release takes over those of another one.
show helm upgrade --install "${release}" charts/vk-sandbox --namespace="${namespace}" --hide-notes --take-ownership \
  --set=sandboxd.existingSecret.name=sandboxd-token --set=claimStatus.interval=1s --set=inventory.publish=true --set=inventory.interval=5s \
  --set=image.repository="${image%:*}" --set=image.tag="${image#*:}"
show kubectl --namespace="${namespace}" rollout status "${daemonset}" --timeout=90s

explain "The host's virtual node: a label that sandbox Pods select, and a taint that keeps all other Pods away"
node="$(of_host name)-sandboxd"
# A rollout counts as done before the controller has seen the DaemonSet.
kubectl wait --for=create "node/${node}" --timeout=60s >/dev/null
kubectl wait --for=condition=Ready "node/${node}" --timeout=60s >/dev/null
show kubectl get nodes --label-columns=type,sandbox.cocoonstack.io/runtime
show kubectl get node "${node}" --output=custom-columns='NODE:.metadata.name,TAINT:.spec.taints[*].key,VALUE:.spec.taints[*].value,EFFECT:.spec.taints[*].effect,PODS:.status.allocatable.pods,PORT:.status.daemonEndpoints.kubeletEndpoint.Port'

explain "A Sandbox: the controller creates its Pod, the scheduler binds it to the virtual node, the daemon claims a warm microVM"
apply examples/sandbox.yaml
kubectl wait "sandbox/${sandbox}" --for=condition=Ready --timeout=60s >/dev/null
show kubectl get sandbox "${sandbox}"
show kubectl get pod "${sandbox}" --output=custom-columns="${columns}"
first="$(claim_id)"
claims bound 1

explain "The same in sandboxd's own record: one VM, claimed for that Pod; and in the object that the node publishes"
simhistory "claims: 1, VMs alive: 1, VMs destroyed: 0"
kubectl wait "nodeinventory/${node}" --for=jsonpath='{.totalEntries}'=1 --timeout=45s >/dev/null
show kubectl get nodeinventory "${node}"

explain "Suspend the Sandbox: its Pod goes, its VM lives, and waits for its owner"
mode Suspended Suspended
show kubectl get pods
simhistory "claims: 1, VMs alive: 1, VMs destroyed: 0"
claims preserved 1
show kubectl get nodeclaimstatus "${node}" --output=custom-columns='POD:.status.claims[*].pod,STATE:.status.claims[*].state,WAITING FOR:.status.claims[*].waitingFor'

explain "Resume it: the new Pod adopts the same VM, still one claim in total"
mode Running Ready
same_vm

explain "Evict the Pod: the controller creates another one, which adopts the VM"
before="$(kubectl get pod "${sandbox}" --output=jsonpath='{.metadata.uid}')"
printf '%s$ kubectl create --raw /api/v1/namespaces/default/pods/%s/eviction --filename=-   # as kubectl drain does%s\n' "${blue}" "${sandbox}" "${plain}"
printf '{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s", "namespace": "default"}}' "${sandbox}" |
  kubectl create --raw "/api/v1/namespaces/default/pods/${sandbox}/eviction" --filename=- >/dev/null
wait_replaced "${before}"
same_vm

explain "A warm pool of three: three Sandboxes, each with a running VM"
apply examples/sandboxtemplate.yaml
show kubectl apply --filename=examples/sandboxwarmpool.yaml
kubectl wait sandboxwarmpool/sandboxd --for=jsonpath='{.status.readyReplicas}'=3 --timeout=60s >/dev/null
show kubectl get sandboxwarmpool sandboxd
claims bound 4

explain "A SandboxClaim gets one of them, with its VM, at once; the pool is filled up again"
show kubectl apply --filename=examples/sandboxclaim.yaml
show kubectl wait sandboxclaim/my-claim --for=condition=Ready --timeout=60s
claims bound 5
claimed="$(kubectl get sandboxclaim my-claim --output=jsonpath='{.status.sandbox.name}')"
show kubectl get pod "${claimed}" --output=custom-columns="${columns}"

explain "Delete the SandboxClaim, the warm pool and the Sandbox: each VM is destroyed with its own token, and nothing is left"
show kubectl delete sandboxclaim my-claim
show kubectl delete sandboxwarmpool,sandboxtemplate sandboxd
show kubectl delete sandbox "${sandbox}"
claims bound 0
simhistory "claims: 1, VMs alive: 0, VMs destroyed: 1"
ref="" simhistory "claims: 5, VMs alive: 0, VMs destroyed: 5"
show kubectl get pods,sandboxes,sandboxclaims,sandboxwarmpools,sandboxtemplates
show kubectl wait "nodeclaimstatus/${node}" --for=condition=Ready --timeout=30s

cat <<END

${bold}That was the main job, in ${SECONDS} seconds.${plain} The cluster is still up. To look around:

  eval "\$(bin/cluster env)"                             kubectl and helm for this cluster
  kubectl describe node ${node}
  kubectl --namespace=${namespace} logs ${daemonset}

What to try next:

  # A Pod without an owner: deleting it destroys its VM.
  kubectl apply -f examples/pod.yaml
  # Every VM that was ever claimed, and its end.
  bin/simhistory
  # The claims table on the host, without the API server and without tokens.
  bin/cluster exec --host=${node%-sandboxd} -- "\$PWD/bin/vk-sandbox" claims
  # End the daemon: all Pods and VMs stay, and it starts again.
  kubectl --namespace=${namespace} delete pod --all
  # A Pod with an unknown template: an event reports it, and nothing is claimed.
  sed 's/my-pod/unknown/; s/rt:24.04/none/' examples/pod.yaml | kubectl apply -f - && kubectl describe pod unknown
  # End the cluster.
  make demo-down
END
