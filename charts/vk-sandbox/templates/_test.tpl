{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- define "vk-sandbox.testName" -}}
{{- include "vk-sandbox.short" (printf "%s-test" (include "vk-sandbox.fullname" .)) -}}
{{- end -}}

{{- define "vk-sandbox.testClusterName" -}}
{{- include "vk-sandbox.short" (printf "%s-test" (include "vk-sandbox.clusterName" .)) -}}
{{- end -}}

{{- /*
The test's Pod must not match the DaemonSet's selector, or the DaemonSet would
take it for one of its own.
*/ -}}
{{- define "vk-sandbox.testLabels" -}}
{{- $own := include "vk-sandbox.labels" . | fromYaml -}}
{{- toYaml (set $own "app.kubernetes.io/name" (printf "%s-test" .Chart.Name)) -}}
{{- end -}}

{{- /*
The rights come before the Pod, and go with the test: Helm deletes them when it is
over, whether it succeeded or failed. A Pod that failed stays to be looked at.
*/ -}}
{{- define "vk-sandbox.testAnnotations" -}}
helm.sh/hook: test
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- /* The labels that every virtual node of the release has. */ -}}
{{- define "vk-sandbox.testNodeSelector" -}}
{{- join "," (compact (list "type=virtual-kubelet" (include "vk-sandbox.nodeLabels" .))) -}}
{{- end -}}
