/** What makes an alert fire. */
export interface AlertCase {
  readonly alert: string;
  /** Values a minute apart, in the notation of `promtool test rules`, by their series. */
  readonly series: Readonly<Record<string, string>>;
}

/** A proxy that reports no metrics is none, so most cases have one. */
const PROXY = { 'gatehouse_routes{job="g"}': '5x40' };

const SLOW_QUANTILE = { 0.5: '0x40', 1: '0+60x40', '+Inf': '0+60x40' };

/** A case for each alert. */
export const ALERT_CASES: readonly AlertCase[] = [
  { alert: 'GatehouseGone', series: { 'gatehouse_controller_leading{job="c"}': '1x40' } },
  ...withProxy({
    GatehouseServerErrors: {
      'gatehouse_requests_total{job="g",route="a",status="5xx"}': '0+60x40',
      'gatehouse_requests_total{job="g",route="b",status="2xx"}': '0+600x40',
    },
    GatehouseRouteErrors: {
      'gatehouse_requests_total{job="g",route="a",status="5xx"}': '0+60x40',
      'gatehouse_requests_total{job="g",route="a",status="2xx"}': '0+60x40',
    },
    GatehouseSlow: buckets('gatehouse_gateway_duration_seconds', 'kind="mcp"', SLOW_QUANTILE),
    GatehouseConnectionsRefused: {
      'gatehouse_connections_refused_total{job="g",reason="too-many-connections"}': '0+1x40',
    },
    GatehouseTokenReplayed: {
      'gatehouse_audit_events_total{job="g",event="code-reused"}': '0x35 1x5',
    },
    GatehouseIdentityProviderFails: {
      'gatehouse_outbound_calls_total{job="g",kind="provider",operation="token",outcome="5xx"}':
        '0+1x40',
    },
    GatehouseRedisAway: { 'gatehouse_redis_reachable{job="g"}': '1x30 0x10' },
    GatehouseRedisSlow: buckets(
      'gatehouse_redis_command_duration_seconds',
      'outcome="ok"',
      SLOW_QUANTILE,
    ),
    GatehouseControllerAway: { 'gatehouse_controller_connected{job="g"}': '0x40' },
    GatehouseSnapshotsDiffer: {
      'gatehouse_snapshot_info{job="g",instance="1",version="a"}': '1x40',
      'gatehouse_snapshot_info{job="g",instance="2",version="b"}': '1x40',
    },
    GatehouseNoLeader: { 'gatehouse_controller_leading{job="c"}': '0x40' },
    GatehouseAcknowledgementLag: {
      'gatehouse_controller_acknowledgement_lag_seconds{job="c",proxy="p"}': '0+60x40',
    },
    GatehouseProxyRejects: { 'gatehouse_controller_proxies{job="c",state="rejecting"}': '1x40' },
    GatehouseHeldBack: { 'gatehouse_controller_publication_held_back{job="c"}': '1x40' },
    GatehouseRoutesRejected: { 'gatehouse_controller_routes{job="c",verdict="last-good"}': '1x40' },
    GatehouseWatchFails: {
      'gatehouse_controller_failing_watches{job="c",resource="routes",problem="forbidden"}': '1x40',
    },
    GatehouseClientCertificateExpires: {
      'gatehouse_certificate_expiry_timestamp_seconds{job="g",certificate="team/tls"}': '86400x40',
    },
    GatehouseCertificateExpires: {
      'gatehouse_controller_push_certificate_expiry_timestamp_seconds{job="c"}': '86400x40',
    },
    GatehouseBusy: { 'gatehouse_event_loop_active_seconds_total{job="g"}': '0+58x40' },
    GatehouseEventLoopLag: buckets('gatehouse_event_loop_lag_seconds', 'instance="1"', {
      ...{ 0.25: '0x40', 1: '0+600x40', '+Inf': '0+600x40' },
    }),
    GatehouseAuditLinesLost: {
      'gatehouse_log_lines_dropped_total{job="g",rank="audit"}': '0x35 1x5',
    },
    GatehouseLinesLost: {
      'gatehouse_log_lines_dropped_total{job="g",rank="ordinary"}': '0x35 1x5',
    },
    GatehouseSpansLost: { 'gatehouse_spans_total{job="g",outcome="dropped"}': '0+1x40' },
  }),
  // The first of a route, a further one, and one after a restart.
  ...['_x35 1x5', '1x35 2x5', '5x35 1x5'].map((values) => ({
    alert: 'GatehouseInternalErrors',
    series: {
      ...PROXY,
      'gatehouse_request_errors_total{job="g",route="a",reason="internal-error"}': values,
    },
  })),
];

/** A cluster that is well: no alert fires. */
export const WELL: AlertCase['series'] = {
  ...PROXY,
  'gatehouse_requests_total{job="g",route="a",status="2xx"}': '0+600x40',
  'gatehouse_request_errors_total{job="g",route="a",reason="internal-error"}': '5x40',
  'gatehouse_outbound_calls_total{job="g",kind="provider",operation="token",outcome="2xx"}':
    '0+1x40',
  'gatehouse_audit_events_total{job="g",event="code-reused"}': '3x40',
  'gatehouse_redis_reachable{job="g"}': '1x40',
  'gatehouse_controller_connected{job="g"}': '1x40',
  'gatehouse_snapshot_info{job="g",instance="1",version="a"}': '1x40',
  'gatehouse_snapshot_info{job="g",instance="2",version="a"}': '1x40',
  'gatehouse_controller_leading{job="c",instance="1"}': '1x40',
  'gatehouse_controller_leading{job="c",instance="2"}': '0x40',
  'gatehouse_controller_acknowledgement_lag_seconds{job="c",proxy="p"}': '0x40',
  'gatehouse_controller_push_certificate_expiry_timestamp_seconds{job="c"}': '8640000x40',
  'gatehouse_event_loop_active_seconds_total{job="g"}': '0+6x40',
  'gatehouse_log_lines_dropped_total{job="g",rank="audit"}': '1x40',
  'gatehouse_spans_total{job="g",outcome="dropped"}': '7x40',
};

function withProxy(cases: Readonly<Record<string, AlertCase['series']>>): readonly AlertCase[] {
  return Object.entries(cases).map(([alert, series]) => ({
    alert,
    series: { ...PROXY, ...series },
  }));
}

function buckets(
  name: string,
  labels: string,
  values: Readonly<Record<string, string>>,
): AlertCase['series'] {
  return Object.fromEntries(
    Object.entries(values).map(([le, counts]) => [
      `${name}_bucket{job="g",le="${le}",${labels}}`,
      counts,
    ]),
  );
}
