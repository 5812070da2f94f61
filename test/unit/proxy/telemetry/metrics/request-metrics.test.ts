import { beforeEach, describe, expect, test } from '@jest/globals';

import {
  gatewayRoute,
  type GatewayRoute,
} from '../../../../../proxy/configuration/routing-table.ts';
import { PolicyDeniedError } from '../../../../../proxy/errors/denial-errors.ts';
import { UpstreamTimeoutError } from '../../../../../proxy/errors/upstream-errors.ts';
import type { Forwarded } from '../../../../../proxy/forwarding/forwarded.ts';
import { parseMessage } from '../../../../../proxy/mcp/json-rpc.ts';
import type { MeasuredRequest } from '../../../../../proxy/telemetry/metrics/request-metrics.ts';
import { ProxyMetrics } from '../../../../../proxy/telemetry/metrics/proxy-metrics.ts';
import { hashResource } from '../../../../../shared/snapshot/hash-resource.ts';
import type { CompiledRoute } from '../../../../../shared/snapshot/snapshot.ts';
import { MetricsRegistry } from '../../../../../shared/telemetry/metrics/metrics-registry.ts';
import { aCompiledRoute } from '../../../../support/compiled-resources.ts';
import { metricFaults } from '../../../../support/metrics/metric-faults.ts';
import { scrape, type Scrape } from '../../../../support/metrics/scrape.ts';

const REQUESTS = 'gatehouse_requests_total';
const MESSAGES = 'gatehouse_mcp_messages_total';

let registry: MetricsRegistry;
let metrics: ProxyMetrics;

beforeEach(() => {
  registry = new MetricsRegistry();
  metrics = new ProxyMetrics(registry);
});

describe('the metrics of requests', () => {
  test('count requests by route, method, class of status and era', async () => {
    const route = serve('team/files');
    finish({ route, status: 200 });
    finish({ route, status: 204 });
    finish({ route, status: 503, method: 'GET' });
    finish({ route, method: 'PROPFIND' });
    finish({ route: undefined, status: 404 });
    const { samples } = await read();
    expect(
      samples(REQUESTS).map(({ labels, value }) => [Object.values(labels).join(' '), value]),
    ).toEqual([
      ['team/files POST 2xx stateful', 2],
      ['team/files GET 5xx stateful', 1],
      ['team/files other none stateful', 1],
      [' POST 4xx none', 1],
    ]);
  });

  test('tell the two eras of MCP apart by the version that a message names', async () => {
    const route = serve('team/files');
    const version = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    finish({ route, status: 200, message: { method: 'tools/list', params: { _meta: version } } });
    finish({ route, status: 200, message: { method: 'tools/list' } });
    const { value } = await read();
    expect(value(REQUESTS, { era: 'stateless' })).toBe(1);
    expect(value(REQUESTS, { era: 'stateful' })).toBe(1);
  });

  test('keep the time of the gateway and that of the upstream apart', async () => {
    const route = serve('team/files');
    finish({ route, status: 200, startedAt: 1_000, forwardedAt: 1_030, firstByteMs: 2_000 });
    const { samples } = await read();
    const sum = (name: string): number | undefined =>
      samples(name).find((sample) => sample.name === `${name}_sum` && sample.value > 0)?.value;
    expect(sum('gatehouse_gateway_duration_seconds')).toBeCloseTo(0.03);
    expect(sum('gatehouse_upstream_duration_seconds')).toBeCloseTo(2);
  });

  test('an upstream that does not respond counts as time of the upstream, and as an error', async () => {
    const route = serve('team/files');
    finish({ route, failure: new UpstreamTimeoutError('late'), startedAt: performance.now() });
    const { value } = await read();
    expect(value('gatehouse_upstream_duration_seconds', { route: 'team/files' })).toBe(1);
    expect(value('gatehouse_gateway_duration_seconds')).toBe(0);
    expect(value('gatehouse_request_errors_total', { reason: 'upstream-timeout' })).toBe(1);
  });

  test('an error that no one expected is an internal error', async () => {
    finish({ route: serve('a'), status: 500, failure: new TypeError('oops') });
    const { value } = await read();
    expect(value('gatehouse_request_errors_total', { reason: 'internal-error' })).toBe(1);
  });

  test('count MCP messages by method, tool and outcome', async () => {
    const route = serve('team/files');
    finish({ route, status: 200, message: call('read') });
    finish({ route, status: 500, message: call('read') });
    finish({ route, status: 404, message: { method: 'tools/list' } });
    finish({ route, message: { method: 'ping' } });
    finish({ route, status: 403, message: call('drop'), failure: new PolicyDeniedError('x') });
    finish({ route, status: 202, message: { id: 1, result: {} } });
    const { samples } = await read();
    expect(samples(MESSAGES).map(({ labels }) => Object.values(labels).slice(1).join(' '))).toEqual(
      [
        'tools/call read answered',
        'tools/call read failed',
        'tools/list  refused',
        'ping  client-gone',
        'tools/call drop denied',
        'response  answered',
      ],
    );
  });

  test('methods that MCP does not have share one label', async () => {
    const route = serve('team/files');
    for (const method of ['a', 'b', 'response', 'other']) {
      finish({ route, status: 200, message: { method } });
    }
    const { samples } = await read();
    expect(samples(MESSAGES)).toMatchObject([{ labels: { method: 'other' }, value: 4 }]);
  });

  test('a flood of names of tools ends in one label, and real tools keep theirs', async () => {
    const route = serve('team/files');
    for (let n = 0; n < 1_000; n += 1) {
      const failure = new PolicyDeniedError('x');
      finish({ route, status: 200, message: call(`denied-${String(n)}`), failure });
    }
    finish({ route, status: 200, message: call('real') });
    for (let n = 0; n < 1_000; n += 1) {
      finish({ route, status: 200, message: call(`allowed-${String(n)}`) });
    }
    finish({ route, status: 200, message: call('real') });
    finish({ route, status: 200, message: call('x'.repeat(200)) });
    const { samples, value } = await read();
    expect(samples(MESSAGES).length).toBeLessThan(125);
    expect(value(MESSAGES, { tool: 'real' })).toBe(2);
    expect(value(MESSAGES, { tool: 'other', outcome: 'denied' })).toBe(980);
    expect(value(MESSAGES, { tool: 'other', outcome: 'answered' })).toBe(902);
  });

  test('all routes together have a bound on names of tools, and deleted routes give theirs back', async () => {
    const fill = (name: string): void => {
      const route = serve(name);
      for (let n = 0; n < 100; n += 1) finish({ route, status: 200, message: call(String(n)) });
    };
    for (let n = 0; n < 60; n += 1) fill(`route-${String(n)}`);
    const full = await read();
    expect(full.samples(MESSAGES)).toHaveLength(5_000 + 10);
    for (let n = 0; n < 60; n += 1) remove(`route-${String(n)}`);
    fill('another');
    const { samples } = await read();
    expect(samples(MESSAGES)).toHaveLength(100);
  });

  test('count decisions by result and the first reason', async () => {
    const route = serve('team/files');
    const allow = { allow: true, allowReasons: ['domain-ok'], deny: false, denyReasons: [] };
    const deny = { ...allow, deny: true, denyReasons: ['mcp-tool-unauthorized'] };
    const neither = { ...allow, allow: false, allowReasons: [] };
    for (const decision of [allow, allow, { ...allow }, deny, neither]) {
      metrics.requests.countDecision(route, decision);
    }
    const { samples } = await read();
    const decisions = samples('gatehouse_decisions_total');
    expect(
      decisions.map(({ labels, value }) => [labels['result'], labels['reason'], value]),
    ).toEqual([
      ['allow', 'domain-ok', 3],
      ['deny', 'mcp-tool-unauthorized', 1],
      ['deny', 'none', 1],
    ]);
  });

  test('a route that is deleted takes its numbers with it, also if a request ends later', async () => {
    const route = serve('team/files');
    const allow = { allow: true, allowReasons: ['domain-ok'], deny: false, denyReasons: [] };
    metrics.requests.countDecision(route, allow);
    finish({ route, status: 500, message: call('read'), failure: new TypeError('oops') });
    expect((await read()).samples(REQUESTS, { route: 'team/files' })).toHaveLength(1);
    remove('team/files');
    finish({ route, status: 200, message: call('read') });
    const { metrics: all, value } = await read();
    const samples = [...all.values()].flatMap((metric) => metric.samples);
    expect(samples.filter(({ labels }) => labels['route'] === 'team/files')).toEqual([]);
    expect(value(REQUESTS, { route: '' })).toBe(1);
  });

  test('a route that changes keeps its numbers', async () => {
    finish({ route: serve('team/files'), status: 200 });
    const before = aCompiledRoute({ name: 'team/files' });
    const after = aCompiledRoute({ name: 'team/files', upstream: 'http://elsewhere.example' });
    metrics.requests.followChanges([{ before: resource(before), after: resource(after) }]);
    finish({ route: gatewayRoute(after), status: 200 });
    expect((await read()).value(REQUESTS, { route: 'team/files' })).toBe(2);
  });

  test('routes without traffic have no numbers', async () => {
    for (let n = 0; n < 100; n += 1) serve(`route-${String(n)}`);
    const { samples, value } = await read();
    expect(samples(REQUESTS)).toEqual([]);
    expect(value('gatehouse_upstream_duration_seconds')).toBe(0);
  });
});

/** Reads all metrics, and checks them by the rules for metrics. */
async function read(): Promise<Scrape> {
  const all = await scrape(registry);
  expect(metricFaults(all.metrics.values())).toEqual([]);
  return all;
}

function resource(route: CompiledRoute): ReturnType<typeof hashResource> {
  return hashResource(`route/${route.name}`, route);
}

function serve(name: string): GatewayRoute {
  const compiled = aCompiledRoute({ name, mcpServer: { path: '', maxRequestBytes: 1_000 } });
  metrics.requests.followChanges([{ before: undefined, after: resource(compiled) }]);
  return gatewayRoute(compiled);
}

function remove(name: string): void {
  const before = resource(aCompiledRoute({ name }));
  metrics.requests.followChanges([{ before, after: undefined }]);
}

function call(name: string): object {
  return { id: 1, method: 'tools/call', params: { name } };
}

/** A request with this outcome; with a `firstByteMs`, the upstream responded. */
function finish({
  status,
  message,
  method = 'POST',
  startedAt = 0,
  forwardedAt = 0,
  firstByteMs = 1,
  ...known
}: Partial<Pick<MeasuredRequest, 'failure' | 'startedAt'>> & {
  readonly route: GatewayRoute | undefined;
  readonly status?: number;
  readonly method?: string;
  readonly message?: object;
  readonly forwardedAt?: number;
  readonly firstByteMs?: number;
}): void {
  const forwarded: Pick<Forwarded, 'bytes' | 'upstream' | 'ended'> = {
    bytes: 0,
    upstream: 'http://upstream.example',
    ended: 'complete',
  };
  metrics.requests.count({
    failure: undefined,
    ...known,
    startedAt,
    // Only the method is read.
    request: { method } as MeasuredRequest['request'],
    body: message && {
      message: parseMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))),
    },
    sent:
      status === undefined ? undefined : { ...forwarded, status, sentAt: forwardedAt, firstByteMs },
  });
}
