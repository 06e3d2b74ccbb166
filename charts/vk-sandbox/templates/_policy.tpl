{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /*
RBAC cannot limit an account to its own node, and NodeRestriction applies only to
kubelets. These policies use the host's name, which the API server writes into the
Pod's token. There are two because expressions are checked against the types that
their policy matches.
*/ -}}

{{- define "vk-sandbox.policyName" -}}
{{- include "vk-sandbox.short" (printf "%s-%s" (include "vk-sandbox.clusterName" .root) .part) -}}
{{- end -}}

{{- /* The account of the policies, and its virtual node. */ -}}
{{- define "vk-sandbox.policyIdentity" -}}
matchConditions:
  - name: by-the-daemon
    expression: request.userInfo.username == 'system:serviceaccount:{{ .Release.Namespace }}:{{ include "vk-sandbox.serviceAccountName" . }}'
variables:
  - name: hostNode
    expression: request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')
  - name: virtualNode
    expression: {{ .Values.node.name | quote | replace "$(HOST_NODE_NAME)" "\" + variables.hostNode + \"" | squote }}
{{- end -}}

{{- define "vk-sandbox.policyTokenValidation" -}}
- expression: variables.hostNode != ''
  message: "this service account may write only with the token of a Pod, which names the Pod's host; this token names none"
  reason: Forbidden
{{- end -}}

{{- define "vk-sandbox.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ include "vk-sandbox.policyName" . }}
  labels:
    {{- include "vk-sandbox.labels" .root | nindent 4 }}
spec:
  policyName: {{ include "vk-sandbox.policyName" . }}
  validationActions: [Deny]
{{- end -}}
