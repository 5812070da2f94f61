{{/* Parts of NetworkPolicies. Both take the root. The kubelet's probes need no rule. */}}

{{- define "gatehouse.metricsIngress" -}}
{{- with .Values.networkPolicy.metricsFrom }}
- from:
    {{- toYaml . | nindent 4 }}
  ports: [{ protocol: TCP, port: admin }]
{{- end }}
{{- end -}}

{{- define "gatehouse.dnsEgress" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end -}}
