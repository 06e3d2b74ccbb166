{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /*
Shortens a name to 63 characters. A shortened name ends with a hash of the whole name,
so that two long names stay different.
*/ -}}
{{- define "vk-sandbox.short" -}}
{{- if gt (len .) 63 -}}
{{- printf "%s-%s" (trunc 54 . | trimAll "-.") (sha256sum . | trunc 8) -}}
{{- else -}}
{{- . | trimAll "-." -}}
{{- end -}}
{{- end -}}

{{- /* The base of resource names in the release namespace. */ -}}
{{- define "vk-sandbox.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- if .Values.fullnameOverride -}}
{{- include "vk-sandbox.short" .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- include "vk-sandbox.short" .Release.Name -}}
{{- else -}}
{{- include "vk-sandbox.short" (printf "%s-%s" .Release.Name $name) -}}
{{- end -}}
{{- end -}}

{{- /*
Names of cluster-wide objects contain the release namespace, so that releases of one
name in two namespaces do not share an object.
*/ -}}
{{- define "vk-sandbox.clusterName" -}}
{{- include "vk-sandbox.short" (printf "%s-%s" (include "vk-sandbox.fullname" .) .Release.Namespace) -}}
{{- end -}}

{{- define "vk-sandbox.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "vk-sandbox.fullname" .) -}}
{{- end -}}

{{- /*
A DaemonSet's selector is immutable. So it contains nothing that a new version or a
value such as nameOverride can change.
*/ -}}
{{- define "vk-sandbox.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vk-sandbox.labels" -}}
{{- $own := include "vk-sandbox.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimAll "-._") -}}
{{- toYaml (merge $own .Values.commonLabels) -}}
{{- end -}}

{{- define "vk-sandbox.podLabels" -}}
{{- $own := include "vk-sandbox.labels" . | fromYaml -}}
{{- toYaml (merge $own .Values.podLabels) -}}
{{- end -}}

{{- /* The labels of an object, with those by which another program selects it. */ -}}
{{- define "vk-sandbox.labelsAnd" -}}
{{- $own := include "vk-sandbox.labels" (index . 0) | fromYaml -}}
{{- toYaml (merge $own (index . 1)) -}}
{{- end -}}

{{- /* The names of the CRDs that this release installs, separated by spaces. */ -}}
{{- define "vk-sandbox.crdNames" -}}
{{- $names := list -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" -}}
{{- $crd := $.Files.Get $path | fromYaml -}}
{{- if and $.Values.crds.install (dig (untitle $crd.spec.names.kind) true $.Values.crds) -}}
{{- $names = append $names $crd.metadata.name -}}
{{- end -}}
{{- end -}}
{{- join " " $names -}}
{{- end -}}
