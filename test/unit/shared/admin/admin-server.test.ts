import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { startAdminServer, type AdminServer } from '../../../../shared/admin/admin-server.ts';
import { EventLoopLag } from '../../../../shared/admin/event-loop-lag.ts';
import { hashResource, snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import type { SnapshotPosition } from '../../../../shared/snapshot/snapshot-position.ts';
import type { Snapshot } from '../../../../shared/snapshot/snapshot.ts';
import { MetricsRegistry } from '../../../../shared/telemetry/metrics/metrics-registry.ts';
import { eventually } from '../../../support/eventually.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };

let isReady = true;
let snapshot: Snapshot | undefined;
let position: SnapshotPosition | undefined;
let metrics: MetricsRegistry;
let logger: ReturnType<typeof recordingLogger>;
let server: AdminServer;

beforeEach(async () => {
  isReady = true;
  snapshot = undefined;
  position = undefined;
  metrics = new MetricsRegistry();
  logger = recordingLogger();
  const sources = {
    isReady: () => isReady,
    whyNotReady: () => 'no snapshot yet',
    snapshot: () => snapshot,
    position: () => position,
  };
  server = await startAdminServer(LOOPBACK, sources, { metrics, logger });
});

afterEach(async () => {
  await server.close();
});

describe('the admin port', () => {
  test('answers /livez while the process lives, ready or not', async () => {
    isReady = false;
    expect((await get('/livez')).status).toBe(200);
  });

  test('answers /livez with 503 when the event loop was late by more than five seconds', async () => {
    let now = 0;
    using eventLoop = new EventLoopLag(() => now);
    const sources = { isReady: () => true, snapshot: () => undefined };
    const late = await startAdminServer(LOOPBACK, sources, { metrics, logger, eventLoop });
    const ask = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${String(late.address.port)}/livez`);
    now = 6_000;
    expect((await ask()).status).toBe(200);
    now = 6_001;
    const response = await ask();
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'stuck',
      reason: 'the event loop was 5 s late',
    });
    await late.close();
  });

  test('answers /readyz with 503 and the reason until it is ready', async () => {
    isReady = false;
    const response = await get('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'not ready', reason: 'no snapshot yet' });
    isReady = true;
    expect((await get('/readyz?verbose')).status).toBe(200);
  });

  test('shows the snapshot as keys and hashes, and none of its secrets', async () => {
    const provider = hashResource('identity-provider/corp', {
      kind: 'identity-provider',
      name: 'corp',
      issuer: 'https://idp.example',
      signIn: true,
      clientId: 'x',
      clientSecret: 'hunter2',
      scopes: [],
      authorizationParams: {},
    });
    snapshot = snapshotOf([provider]);
    const response = await get('/debug/snapshot');
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      version: snapshot.version,
      resources: [{ key: 'identity-provider/corp', hash: provider.hash }],
    });
    expect(text).not.toContain('hunter2');
  });

  test('shows the position of a published snapshot', async () => {
    snapshot = snapshotOf([]);
    position = { epoch: 3, sequence: 41 };
    expect(await (await get('/debug/snapshot')).json()).toEqual({
      version: snapshot.version,
      position: '3.41',
      resources: [],
    });
  });

  test('shows no snapshot before the first one', async () => {
    expect(await (await get('/debug/snapshot')).json()).toEqual({ version: null, resources: [] });
  });

  test.each([
    { method: 'GET', path: '/', status: 404 },
    { method: 'GET', path: '/livezz', status: 404 },
    { method: 'POST', path: '/livez', status: 405 },
    { method: 'POST', path: '/metrics', status: 405 },
    { method: 'HEAD', path: '/livez', status: 200 },
  ])('answers $method $path with $status', async ({ method, path, status }) => {
    expect((await get(path, method)).status).toBe(status);
  });

  test('serves its metrics as text for Prometheus, or as OpenMetrics', async () => {
    metrics.counter({ name: 'gatehouse_a_total', help: 'A thing.' }).add({});
    const plain = await get('/metrics');
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await plain.text()).toContain('\ngatehouse_a_total 1\n');
    const open = await get('/metrics', 'GET', { accept: 'application/openmetrics-text' });
    expect(open.headers.get('content-type')).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    expect(await open.text()).toMatch(/\n# EOF\n$/);
    const head = await get('/metrics', 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('breaks off, and logs why, when a metric cannot be read', async () => {
    metrics.gauge({ name: 'gatehouse_a', help: 'A thing.' }).set({}, 1);
    metrics.gauge({ name: 'gatehouse_b', help: 'A thing.' }).readFrom(() => {
      throw new Error('out of order');
    });
    await expect(get('/metrics').then((response) => response.text())).rejects.toThrow();
    await eventually('the failure is logged', () => logger.records.length > 0);
    expect(logger.records).toMatchObject([{ message: 'metrics could not be sent' }]);
  });

  test('rejects when its port is taken', async () => {
    const sources = { isReady: () => true, snapshot: () => undefined };
    const second = startAdminServer(server.address, sources, { metrics, logger });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

async function get(
  path: string,
  method = 'GET',
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { host, port } = server.address;
  return fetch(`http://${host}:${String(port)}${path}`, { method, headers });
}
