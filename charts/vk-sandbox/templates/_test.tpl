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
The test's Pod must not match the DaemonSet's selector, or the DaemonSet would adopt it.
*/ -}}
{{- define "vk-sandbox.testLabels" -}}
{{- $own := include "vk-sandbox.labels" . | fromYaml -}}
{{- toYaml (set $own "app.kubernetes.io/name" (printf "%s-test" .Chart.Name)) -}}
{{- end -}}

{{- /*
The rights are created before the Pod. Helm deletes them at the end of the test, whether
it succeeded or failed. A failed Pod is kept for inspection.
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
