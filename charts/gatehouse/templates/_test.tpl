{{/* Namespace of the Route of `helm test`: one that controllers watch. */}}
{{- define "gatehouse.testNamespace" -}}
{{- first (concat .Values.watchNamespaces (list .Release.Namespace)) -}}
{{- end -}}

{{- define "gatehouse.testName" -}}{{ include "gatehouse.fullname" . }}-test{{- end -}}
