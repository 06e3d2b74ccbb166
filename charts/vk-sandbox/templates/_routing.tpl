{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* Expressions of the routing policies. */ -}}

{{- /* The label, annotation and node label that name a Pod's runtime. */ -}}
{{- define "vk-sandbox.runtimeKey" -}}
sandbox.cocoonstack.io/runtime
{{- end -}}

{{- /* The runtime's label on the virtual nodes, which routed Pods select. */ -}}
{{- define "vk-sandbox.routingNodeLabel" -}}
{{- index .Values.node.labels (include "vk-sandbox.runtimeKey" .) | default "" -}}
{{- end -}}

{{- /* The routing needs an API of the cluster, and a label to select. */ -}}
{{- define "vk-sandbox.validateRouting" -}}
{{- if .Values.routing.enabled -}}
{{- if not (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy") -}}
{{- fail "routing.enabled needs admissionregistration.k8s.io/v1 MutatingAdmissionPolicy, which this cluster does not serve; Kubernetes has it since 1.36. Upgrade the cluster, or set routing.enabled=false and write the routing into the Pod templates (docs/pod-contract.md). For helm template, add --api-versions admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
{{- end -}}
{{- if not (include "vk-sandbox.routingNodeLabel" .) -}}
{{- fail (printf "routing.enabled needs the label %s in node.labels, because the routed Pods select it" (include "vk-sandbox.runtimeKey" .)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Whether the Pod's controller is a Sandbox. */ -}}
{{- define "vk-sandbox.podOfSandbox" -}}
object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == 'Sandbox' && o.apiVersion.startsWith('agents.x-k8s.io/'))
{{- end -}}

{{- /* A resource of the first container: its request, else its limit. */ -}}
{{- define "vk-sandbox.routingResource" -}}
object.spec.containers[0].?resources.?requests[?'{{ . }}'].orValue(object.spec.containers[0].?resources.?limits[?'{{ . }}'].orValue('0'))
{{- end -}}

{{- /* The metadata of a routing policy or binding, whose name ends with part. */ -}}
{{- define "vk-sandbox.routingMetadata" -}}
name: {{ include "vk-sandbox.policyName" . }}
labels:
  {{- include "vk-sandbox.labels" .root | nindent 2 }}
{{- end -}}

{{- /* Whether variables.spec has a volume for which the daemon refuses the Pod. */ -}}
{{- define "vk-sandbox.persistentVolumes" -}}
variables.spec.?volumes.orValue([]).exists(v, has(v.persistentVolumeClaim) || has(v.nfs) || has(v.iscsi) || has(v.fc))
{{- end -}}

{{- /*
The validations that warn: one for each thing in variables.spec, a PodSpec, that a microVM
does not have. With routed, none warns where variables.routed is false.
*/ -}}
{{- define "vk-sandbox.routingWarnings" -}}
{{- $served := list
  (list "init containers will not run: the microVM runs what its template contains"
    "variables.spec.?initContainers.orValue([]).size() == 0")
  (list "command and args will not run: the microVM runs what its template contains"
    "!variables.containers.exists(c, has(c.command) || has(c.args))")
  (list "only the first container chooses the microVM, the others will not run"
    "variables.containers.size() <= 1")
  (list "env and envFrom will not be set in the microVM"
    "!variables.containers.exists(c, has(c.env) || has(c.envFrom))")
  (list "the Pod will not get a microVM: files in its persistent volumes would be lost"
    "!variables.persistent")
  (list "volumes will not be mounted into the microVM"
    "variables.spec.?volumes.orValue([]).all(v, v.name.startsWith('kube-api-access-') || has(v.persistentVolumeClaim) || has(v.nfs) || has(v.iscsi) || has(v.fc))")
  (list "the microVM will not get a service account token"
    "!variables.spec.?automountServiceAccountToken.orValue(!(variables.spec.?serviceAccountName.orValue('') in ['', 'default']))")
  (list "probes will not run: containers are ready once the Pod has its microVM"
    "!variables.containers.exists(c, has(c.livenessProbe) || has(c.readinessProbe) || has(c.startupProbe))")
  (list "lifecycle hooks will not run"
    "!variables.containers.exists(c, has(c.lifecycle))")
  (list "the runtime class will not be used, but its scheduling rules apply"
    "!has(variables.spec.runtimeClassName)")
  (list "with restartPolicy Never the Pod will not be retried when no microVM is available"
    "variables.spec.?restartPolicy.orValue('') != 'Never'")
-}}
{{- range $served }}
- expression: {{ printf "%s%s" ($.routed | ternary "!variables.routed || " "") (index . 1) | quote }}
  message: {{ index . 0 | quote }}
{{- end }}
{{- end -}}
