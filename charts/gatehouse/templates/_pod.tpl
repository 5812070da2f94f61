{{/*
What pods of controllers and proxies have in common: takes a dict of root, component and its values.
*/}}
{{- define "gatehouse.podMetadata" -}}
labels:
  {{- include "gatehouse.labels" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) (.values.podAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gatehouse.pullSecrets" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Where a pod may run: takes the values of a component. */}}
{{- define "gatehouse.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Constraints of a component, each for its pods unless it selects others. */}}
{{- define "gatehouse.spread" -}}
{{- $selector := dict "labelSelector" (dict "matchLabels" (include "gatehouse.selector" . | fromYaml)) }}
{{- with .values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{- toYaml (merge (dict) . $selector) | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The security of pods that have no values for it: what the restricted standard demands. */}}
{{- define "gatehouse.restrictedPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "gatehouse.restrictedContainer" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Probes of the admin port: takes the values of a component. */}}
{{- define "gatehouse.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: admin }
  {{- toYaml .startupProbe | nindent 2 }}
livenessProbe:
  httpGet: { path: /livez, port: admin }
  {{- toYaml .livenessProbe | nindent 2 }}
readinessProbe:
  httpGet: { path: /readyz, port: admin }
  {{- toYaml .readinessProbe | nindent 2 }}
{{- end -}}

{{/* A container's own environment, and that of the values. */}}
{{- define "gatehouse.extraEnv" -}}
{{- with .extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
