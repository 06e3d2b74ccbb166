{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- define "vk-sandbox.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* The parts of a [host]:port. */ -}}
{{- define "vk-sandbox.host" -}}
{{- regexReplaceAll ":[0-9]+$" . "" | trimAll "[]" -}}
{{- end -}}

{{- define "vk-sandbox.port" -}}
{{- regexReplaceAll "^.*:" . "" -}}
{{- end -}}

{{- /*
The host that the kubelet probes: loopback if the daemon listens on every address, else
the address in metrics.addr. If that has a variable, no host is set: the kubelet then
uses the Pod's address, which is the host's.
*/ -}}
{{- define "vk-sandbox.probeTarget" -}}
{{- $host := include "vk-sandbox.host" .Values.metrics.addr -}}
{{- if has $host (list "" "0.0.0.0" "::") -}}
host: 127.0.0.1
{{ else if not (contains "$(" $host) -}}
host: {{ $host | quote }}
{{ end -}}
port: {{ include "vk-sandbox.port" .Values.metrics.addr }}
scheme: HTTP
{{- end -}}

{{- /*
Helm reads whole numbers as floats and prints large ones with an exponent.
*/ -}}
{{- define "vk-sandbox.scalar" -}}
{{- if kindIs "float64" . -}}{{- int64 . -}}{{- else -}}{{- . -}}{{- end -}}
{{- end -}}

{{- define "vk-sandbox.nodeLabels" -}}
{{- $pairs := list -}}
{{- range $key, $value := .Values.node.labels -}}
{{- $pairs = append $pairs (printf "%s=%s" $key $value) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{- /* Not empty if the nodes publish their NodeClaimStatus. */ -}}
{{- define "vk-sandbox.claimStatus" -}}
{{- if regexMatch "[1-9]" (toString .Values.claimStatus.interval) -}}on{{- end -}}
{{- end -}}

{{- /* The Secret with sandboxd's token: the user's, the chart's, or none. */ -}}
{{- define "vk-sandbox.tokenSecretName" -}}
{{- if .Values.sandboxd.existingSecret.name -}}
{{- .Values.sandboxd.existingSecret.name -}}
{{- else if .Values.sandboxd.token -}}
{{- include "vk-sandbox.short" (printf "%s-sandboxd-token" (include "vk-sandbox.fullname" .)) -}}
{{- end -}}
{{- end -}}

{{- /* The user's affinity, with virtual nodes excluded from every required term. */ -}}
{{- define "vk-sandbox.affinity" -}}
{{- $exclude := dict "key" "type" "operator" "NotIn" "values" (list "virtual-kubelet") -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- $node := get $affinity "nodeAffinity" | default dict -}}
{{- $required := get $node "requiredDuringSchedulingIgnoredDuringExecution" | default dict -}}
{{- $terms := list -}}
{{- range get $required "nodeSelectorTerms" | default (list dict) -}}
{{- $terms = append $terms (set . "matchExpressions" (append (get . "matchExpressions" | default list) $exclude)) -}}
{{- end -}}
{{- $_ := set $node "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms) -}}
{{- $_ := set $affinity "nodeAffinity" $node -}}
{{- toYaml $affinity -}}
{{- end -}}
