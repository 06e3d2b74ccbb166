{{- /*
Copyright The vk-sandbox Authors.
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /*
RBAC cannot say "your own node", and NodeRestriction looks at kubelets only. These
policies close the gap with what the API server itself wrote into the Pod's token:
the name of the host it runs on. There are two because an expression is checked
against the types its policy matches.
*/ -}}

{{- define "vk-sandbox.policyName" -}}
{{- include "vk-sandbox.short" (printf "%s-%s" (include "vk-sandbox.clusterName" .root) .part) -}}
{{- end -}}

{{- /* Whom the policies are for, and which virtual node is theirs. */ -}}
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
