import type { Counter } from '../../../shared/telemetry/metrics/counter.ts';
import type { Histogram } from '../../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';

/** The metrics of requests. The label `route` is empty for requests of no route. */
export interface RequestFamilies {
  readonly requests: Counter<'route' | 'method' | 'status' | 'era'>;
  readonly endpointRequests: Counter<'endpoint' | 'status'>;
  readonly errors: Counter<'route' | 'reason'>;
  readonly decisions: Counter<'route' | 'result' | 'reason'>;
  readonly calls: Counter<'route' | 'method' | 'tool' | 'outcome'>;
  readonly gatewaySeconds: Histogram<'kind'>;
  readonly upstreamSeconds: Histogram<'route'>;
}

/** Defines the metrics of requests. */
export function requestFamilies(registry: MetricsRegistry): RequestFamilies {
  return {
    requests: registry.counter({
      name: 'gatehouse_requests_total',
      help: 'Requests that are over, WebSockets among them. `status` is a class such as `5xx`, or `none` if the client left first; `era` is `stateful` for MCP before 2026-07-28, `stateless` since, and `none` for other routes. `route` is empty for what no route serves.',
      labels: ['route', 'method', 'status', 'era'],
    }),
    endpointRequests: registry.counter({
      name: 'gatehouse_endpoint_requests_total',
      help: "Requests to the gateway's own endpoints, which are among the requests without a route. `endpoint` is its path, and `none` for reserved paths without an endpoint.",
      labels: ['endpoint', 'status'],
    }),
    errors: registry.counter({
      name: 'gatehouse_request_errors_total',
      help: 'Requests that were refused or failed, by the reason that the log names; `internal-error` is a bug.',
      labels: ['route', 'reason'],
    }),
    decisions: registry.counter({
      name: 'gatehouse_decisions_total',
      help: 'Decisions of policy. `result` is `allow` or `deny`, and `reason` the first of the reasons in the authorization log.',
      labels: ['route', 'result', 'reason'],
    }),
    calls: registry.counter({
      name: 'gatehouse_mcp_messages_total',
      help: 'MCP messages of clients. `tool` is that of a `tools/call`. `outcome` is `answered`, `denied` by policy, `refused` (4xx), `failed` (5xx) or `client-gone`; what a tool says of its own failure is an answer.',
      labels: ['route', 'method', 'tool', 'outcome'],
    }),
    gatewaySeconds: registry.histogram({
      name: 'gatehouse_gateway_duration_seconds',
      help: 'Time that the gateway took before it forwarded a request, or until it answered one itself. It includes waiting for the body, for Redis and for identity providers. `kind` is `mcp` or `web` for routes, `endpoint`, or `none`.',
      labels: ['kind'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    }),
    upstreamSeconds: registry.histogram({
      name: 'gatehouse_upstream_duration_seconds',
      help: 'Time from forwarding a request to the first byte of the response, or to the failure.',
      labels: ['route'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    }),
  };
}
