import { afterEach, describe, expect, it } from '@jest/globals';

import { type RecordedSpan } from '../../support/tracing/recorded-spans.ts';
import { startTracedGateway, type TracedGateway } from '../../support/tracing/traced-gateway.ts';

let world: TracedGateway;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

async function upstreamSpanOf(run: () => Promise<unknown>): Promise<RecordedSpan | undefined> {
  const spans = await world.spansOf(run);
  return spans.find(({ kind }) => kind === 'client');
}

describe('the span of a request to an upstream', () => {
  it('has the attributes of OpenTelemetry for HTTP clients', async () => {
    world = await startTracedGateway();
    const span = await upstreamSpanOf(() => world.visit('/reports?month=11'));
    expect(span).toMatchObject({ name: 'GET', error: undefined });
    expect(span?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': world.upstream.port,
      'url.full': `${world.upstream.origin}/reports`,
    });
  });

  it('is one for a request that is sent again after its connection was lost, with an event', async () => {
    world = await startTracedGateway();
    await world.visit('/');
    world.upstream.server.once('request', (message) => message.socket.destroy());
    const span = await upstreamSpanOf(() => world.visit('/again'));
    expect(span?.error).toBeUndefined();
    expect(span?.events).toMatchObject([
      { name: 'sent again', attributes: { 'error.type': 'connection-lost' } },
    ]);
    const ids = world.upstream.requests.slice(1).map(({ headers }) => traceparentIn(headers));
    expect(ids).toHaveLength(2);
    expect(new Set(ids)).toEqual(
      new Set([`00-${String(span?.traceId)}-${String(span?.spanId)}-01`]),
    );
  });

  it('says why the upstream cannot be reached, and so does that of the request', async () => {
    world = await startTracedGateway();
    world.upstream.server.close();
    for (const connection of world.upstream.connections) connection.destroy();
    const spans = await world.spansOf(() => world.visit('/'));
    const failed = spans.filter(({ kind }) => kind !== 'internal');
    expect(failed).toHaveLength(2);
    for (const span of failed) {
      expect(span.error).toMatch(/ECONNREFUSED/);
      expect(span.attributes['error.type']).toBe('upstream-unreachable');
    }
  });
});

function traceparentIn(headers: readonly (readonly [string, string])[]): string | undefined {
  return headers.find(([name]) => name === 'traceparent')?.[1];
}
