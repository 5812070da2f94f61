{{/*
Annotations of a Route or GatewaySettings. Takes the root.

Helm looks up every kind before it creates anything. So while the definitions are not in the cluster, an object of their kinds
can be a hook only, which is looked up when it runs. The next upgrade finds it, and takes it over as an ordinary object:
that is what the annotations of a release are for.
*/}}
{{- define "gatehouse.resourceAnnotations" -}}
{{- if not (.Capabilities.APIVersions.Has "gatehouse.dev/v1alpha1/Route") }}
helm.sh/hook: post-install,post-upgrade,post-rollback
{{- /* Helm 4 applies it again where it exists; Helm 3 can only create it anew. */}}
helm.sh/hook-delete-policy: {{ ternary "hook-failed" "before-hook-creation" (semverCompare ">=4.0.0-0" .Capabilities.HelmVersion.Version) }}
meta.helm.sh/release-name: {{ .Release.Name | quote }}
meta.helm.sh/release-namespace: {{ .Release.Namespace | quote }}
{{- end }}
{{- end -}}
