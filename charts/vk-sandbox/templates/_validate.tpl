{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* Checks that the schema cannot express, or not with a clear message. */ -}}
{{- define "vk-sandbox.validate" -}}
{{- if eq .Values.node.name "$(HOST_NODE_NAME)" -}}
{{- fail "node.name is the host's own node name: the virtual node would take over its Node object. Add a suffix, as in $(HOST_NODE_NAME)-sandboxd" -}}
{{- end -}}
{{- range $name, $addr := dict "listenAddr" .Values.listenAddr "metrics.addr" .Values.metrics.addr -}}
{{- $port := include "vk-sandbox.port" $addr | int -}}
{{- if eq $port 10250 -}}
{{- fail (printf "%s uses port 10250, which the host's own kubelet serves. Choose another port" $name) -}}
{{- end -}}
{{- if or (lt $port 1) (gt $port 65535) -}}
{{- fail (printf "%s has port %d, which is not between 1 and 65535" $name $port) -}}
{{- end -}}
{{- end -}}
{{- if eq (include "vk-sandbox.port" .Values.listenAddr) (include "vk-sandbox.port" .Values.metrics.addr) -}}
{{- fail "listenAddr and metrics.addr have the same port. Choose another for one of them" -}}
{{- end -}}
{{- $metricsHost := include "vk-sandbox.host" .Values.metrics.addr -}}
{{- if and .Values.metrics.podMonitor.enabled (or (hasPrefix "127." $metricsHost) (has $metricsHost (list "::1" "localhost"))) -}}
{{- fail (printf "metrics.podMonitor.enabled: Prometheus cannot reach metrics.addr %s, which is for the host alone. Set it to $(VK_NODE_IP):10261" .Values.metrics.addr) -}}
{{- end -}}
{{- $tls := .Values.tls -}}
{{- if and $tls.existingSecret (or $tls.certFile $tls.keyFile) -}}
{{- fail "tls.existingSecret and tls.certFile/tls.keyFile are both set. Keep one of them" -}}
{{- end -}}
{{- if ne (empty $tls.certFile) (empty $tls.keyFile) -}}
{{- fail "tls.certFile and tls.keyFile belong together: set both or neither" -}}
{{- end -}}
{{- $sandboxd := .Values.sandboxd -}}
{{- $sources := compact (list $sandboxd.existingSecret.name $sandboxd.token $sandboxd.tokenFile) -}}
{{- if gt (len $sources) 1 -}}
{{- fail "more than one of sandboxd.existingSecret.name, sandboxd.token and sandboxd.tokenFile is set. Keep one of them" -}}
{{- end -}}
{{- if not .Values.node.advertiseIP -}}
{{- if contains "$(VK_NODE_IP)" (print .Values.listenAddr .Values.metrics.addr $sandboxd.advertiseAddr) -}}
{{- fail "listenAddr, metrics.addr or sandboxd.advertiseAddr uses $(VK_NODE_IP), which exists only with node.advertiseIP=true" -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail "serviceAccount.create is false: set serviceAccount.name to the account to use" -}}
{{- end -}}
{{- if eq .Values.updateStrategy.type "RollingUpdate" -}}
{{- if not (has (toString .Values.updateStrategy.rollingUpdate.maxSurge) (list "0" "0%")) -}}
{{- fail "updateStrategy.rollingUpdate.maxSurge must be 0: the Pods use the host's port and the host's claims table, so the new one can start only when the old one is gone" -}}
{{- end -}}
{{- if has (toString .Values.updateStrategy.rollingUpdate.maxUnavailable) (list "0" "0%") -}}
{{- fail "updateStrategy.rollingUpdate.maxUnavailable must be more than 0: with maxSurge 0 no Pod could ever be replaced" -}}
{{- end -}}
{{- end -}}
{{- include "vk-sandbox.validateRouting" . -}}
{{- include "vk-sandbox.validateNamespace" . -}}
{{- end -}}

{{- /*
hostNetwork and hostPath need a privileged namespace. In another namespace the API server
accepts the DaemonSet and refuses each Pod, which is easily missed.
*/ -}}
{{- define "vk-sandbox.validateNamespace" -}}
{{- $namespace := lookup "v1" "Namespace" "" .Release.Namespace | default dict -}}
{{- $level := dig "metadata" "labels" "pod-security.kubernetes.io/enforce" "" $namespace -}}
{{- if not (has $level (list "" "privileged")) -}}
{{- fail (printf "namespace %s enforces the Pod Security level %q, but the daemon uses hostNetwork and hostPath. Install it in a namespace of its own, or run: kubectl label namespace %s pod-security.kubernetes.io/enforce=privileged --overwrite" .Release.Namespace $level .Release.Namespace) -}}
{{- end -}}
{{- end -}}
