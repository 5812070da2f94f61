{{/* Names. Each takes the root, unless it says otherwise. */}}

{{- define "gatehouse.name" -}}
{{- .Values.nameOverride | default "gatehouse" | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatehouse.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "gatehouse.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gatehouse.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.controllerName" -}}{{ include "gatehouse.fullname" . }}-controller{{- end -}}
{{- define "gatehouse.proxyName" -}}{{ include "gatehouse.fullname" . }}-proxy{{- end -}}
{{- define "gatehouse.redisName" -}}{{ include "gatehouse.fullname" . }}-redis{{- end -}}

{{- define "gatehouse.redisVolume" -}}{{ include "gatehouse.redisName" . }}-data{{- end -}}

{{- define "gatehouse.proxyNamespace" -}}
{{- if .Values.proxy.namespace.sameAsController -}}
{{- .Release.Namespace -}}
{{- else -}}
{{- .Values.proxy.namespace.name | default (printf "%s-proxy" .Release.Namespace) -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.controllerServiceAccount" -}}
{{- .Values.controller.serviceAccount.name | default (include "gatehouse.controllerName" .) -}}
{{- end -}}

{{- define "gatehouse.proxyServiceAccount" -}}
{{- .Values.proxy.serviceAccount.name | default (include "gatehouse.proxyName" .) -}}
{{- end -}}

{{- define "gatehouse.sealingKeysSecret" -}}
{{- .Values.secrets.sealingKeys.existingSecret | default (printf "%s-sealing-keys" (include "gatehouse.fullname" .)) -}}
{{- end -}}

{{- define "gatehouse.pushSecret" -}}
{{- .Values.secrets.pushTls.existingSecret | default (printf "%s-push" (include "gatehouse.fullname" .)) -}}
{{- end -}}

{{- define "gatehouse.pushAuthority" -}}
{{- .Values.secrets.pushTls.existingAuthority | default (printf "%s-push-ca" (include "gatehouse.fullname" .)) -}}
{{- end -}}

{{- define "gatehouse.redisSecret" -}}
{{- .Values.redis.existingSecret | default (include "gatehouse.redisName" .) -}}
{{- end -}}

{{- define "gatehouse.redisSecretKey" -}}
{{- if .Values.redis.existingSecret }}{{ .Values.redis.existingSecretKey }}{{ else }}url{{ end -}}
{{- end -}}

{{/* "true" if the chart runs a Redis. */}}
{{- define "gatehouse.bundlesRedis" -}}
{{- if and .Values.redis.bundled.enabled (not .Values.redis.existingSecret) }}true{{ end -}}
{{- end -}}

{{/* "true" if a Job makes secrets. */}}
{{- define "gatehouse.makesSecrets" -}}
{{- if or (not .Values.secrets.sealingKeys.existingSecret) (not .Values.secrets.pushTls.existingSecret) (include "gatehouse.bundlesRedis" .) }}true{{ end -}}
{{- end -}}

{{/* Name of a Service of the controllers without the domain of the cluster: proxies and certificates use it. */}}
{{- define "gatehouse.controllerHost" -}}
{{ include "gatehouse.controllerName" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{/* An image: takes a dict of root, image and the tag by default. */}}
{{- define "gatehouse.image" -}}
{{- $repository := .image.repository -}}
{{- with .root.Values.global.imageRegistry -}}
{{- $parts := splitList "/" $repository -}}
{{- $first := first $parts -}}
{{- /* As in Docker: the first part is a registry if it looks like the name of a host. */ -}}
{{- if and (gt (len $parts) 1) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) -}}
{{- $repository = rest $parts | join "/" -}}
{{- end -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}
{{- end -}}
{{- if .image.digest -}}
{{ $repository }}@{{ .image.digest }}
{{- else -}}
{{ $repository }}:{{ .image.tag | default .tag }}
{{- end -}}
{{- end -}}

{{- define "gatehouse.ownImage" -}}
{{- include "gatehouse.image" (dict "root" . "image" .Values.image "tag" .Chart.AppVersion) -}}
{{- end -}}
