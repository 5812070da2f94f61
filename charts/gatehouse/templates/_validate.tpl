{{/* What a schema cannot say. Each message names the value, and what to do. */}}
{{- define "gatehouse.validate" -}}
{{- $ := . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "gatehouse.fullname" .)) -}}
{{- fail (printf "fullnameOverride: Services cannot be named after the release %s. Set a name that begins with a letter and has letters, digits and hyphens only" (include "gatehouse.fullname" .)) -}}
{{- end -}}
{{- if not (or .Values.redis.existingSecret .Values.redis.bundled.enabled) -}}
{{- fail "redis: proxies need Redis. Set redis.existingSecret, or redis.bundled.enabled=true for a trial" -}}
{{- end -}}
{{- if and .Values.secrets.pushTls.existingSecret (not .Values.secrets.pushTls.existingAuthority) -}}
{{- fail "secrets.pushTls.existingAuthority: name the ConfigMap with the authority of secrets.pushTls.existingSecret, which proxies trust" -}}
{{- end -}}
{{- if and .Values.secrets.pushTls.existingAuthority (not .Values.secrets.pushTls.existingSecret) -}}
{{- fail "secrets.pushTls.existingSecret: name the Secret with the certificate that secrets.pushTls.existingAuthority signed" -}}
{{- end -}}
{{- if and .Values.proxy.namespace.sameAsController .Values.proxy.namespace.name (ne .Values.proxy.namespace.name .Release.Namespace) -}}
{{- fail (printf "proxy.namespace.name: leave it empty with proxy.namespace.sameAsController, which means %s" .Release.Namespace) -}}
{{- end -}}
{{- if and (eq (include "gatehouse.proxyNamespace" .) .Release.Namespace) (not .Values.proxy.namespace.sameAsController) -}}
{{- fail (printf "proxy.namespace.name: %s is the namespace of the controllers. If proxies may share it, set proxy.namespace.sameAsController=true: controllers can then read the sealing keys" .Release.Namespace) -}}
{{- end -}}
{{- if gt (int .Values.proxy.autoscaling.minReplicas) (int .Values.proxy.autoscaling.maxReplicas) -}}
{{- fail "proxy.autoscaling.minReplicas: it is above proxy.autoscaling.maxReplicas" -}}
{{- end -}}
{{- range tuple "controller" "proxy" -}}
{{- $component := index $.Values . -}}
{{- if and (not $component.serviceAccount.create) (not $component.serviceAccount.name) -}}
{{- fail (printf "%s.serviceAccount.name: name the ServiceAccount that the chart does not create" .) -}}
{{- end -}}
{{- end -}}
{{- if has (include "gatehouse.proxyNamespace" .) .Values.routeSecretNamespaces -}}
{{- fail (printf "routeSecretNamespaces: %s has the sealing keys, which no controller may read" (include "gatehouse.proxyNamespace" .)) -}}
{{- end -}}
{{- if and .Values.rbac.secretNames (has .Release.Namespace .Values.routeSecretNamespaces) -}}
{{- fail (printf "routeSecretNamespaces: with %s controllers may read all its Secrets. Leave it out, and list those of its Routes in rbac.secretNames" .Release.Namespace) -}}
{{- end -}}
{{- if and (or .Values.metrics.podMonitor.enabled .Values.metrics.prometheusRule.enabled) (not (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
{{- fail "metrics: this cluster has no PodMonitor and PrometheusRule of monitoring.coreos.com/v1. Install the Prometheus Operator first; helm template without a cluster needs --api-versions monitoring.coreos.com/v1" -}}
{{- end -}}
{{- $names := dict -}}
{{- range .Values.routes -}}
{{- $name := printf "%s/%s" (.namespace | default $.Release.Namespace) .name -}}
{{- if hasKey $names $name -}}{{- fail (printf "routes: %s is there twice" $name) -}}{{- end -}}
{{- $_ := set $names $name true -}}
{{- end -}}
{{- end -}}
