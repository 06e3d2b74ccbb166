{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The daemon's flags, in the order of the configuration reference. */ -}}
{{- define "vk-sandbox.args" -}}
- --listen-addr={{ .Values.listenAddr }}
{{- if .Values.tls.existingSecret }}
- --tls-cert=/etc/vk-sandbox/tls/tls.crt
- --tls-key=/etc/vk-sandbox/tls/tls.key
{{- else if .Values.tls.certFile }}
- --tls-cert={{ .Values.tls.certFile }}
- --tls-key={{ .Values.tls.keyFile }}
{{- end }}
- --node-cpu={{ include "vk-sandbox.scalar" .Values.node.cpu }}
- --node-memory={{ include "vk-sandbox.scalar" .Values.node.memory }}
- --node-ephemeral-storage={{ include "vk-sandbox.scalar" .Values.node.ephemeralStorage }}
- --node-pods={{ include "vk-sandbox.scalar" .Values.node.pods }}
- --kube-api-qps={{ include "vk-sandbox.scalar" .Values.kubeAPI.qps }}
- --kube-api-burst={{ include "vk-sandbox.scalar" .Values.kubeAPI.burst }}
- --sandboxd-url={{ .Values.sandboxd.url }}
{{- with .Values.sandboxd.advertiseAddr }}
- --sandboxd-advertise-addr={{ . }}
{{- end }}
{{- if .Values.sandboxd.tokenFile }}
- --sandboxd-token-file={{ .Values.sandboxd.tokenFile }}
{{- else if include "vk-sandbox.tokenSecretName" . }}
- --sandboxd-token-file=/etc/vk-sandbox/sandboxd/token
{{- end }}
- --state-path={{ .Values.state.path }}
- --machine-id-file={{ if .Values.host.machineIDFile }}/etc/vk-sandbox/machine-id{{ end }}
- --orphan-scan-interval={{ .Values.orphanScanInterval }}
- --missing-owners-hold={{ .Values.claims.missingOwnersHold }}
- --unadoptable-grace={{ .Values.claims.unadoptableGrace }}
- --lease-warning={{ .Values.claims.leaseWarning }}
- --claim-status-interval={{ .Values.claimStatus.interval }}
- --publish-inventory={{ .Values.inventory.publish }}
- --publish-interval={{ .Values.inventory.interval }}
- --metrics-addr={{ .Values.metrics.addr }}
- --enable-pprof={{ .Values.metrics.pprof }}
- --node-labels={{ include "vk-sandbox.nodeLabels" . }}
- --disable-pod-events={{ .Values.disablePodEvents }}
- --log-format={{ .Values.log.format }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
