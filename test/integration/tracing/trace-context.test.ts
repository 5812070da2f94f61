import { afterEach, describe, expect, it } from '@jest/globals';

import { parseTraceparent } from '../../../shared/telemetry/tracing/trace-context.ts';
import { verifies } from '../../requirements/verifies.ts';
import type { RequestOptions } from '../../support/http-client.ts';
import { startTracedGateway, type TracedGateway } from '../../support/tracing/traced-gateway.ts';
import type { RecordedSpan } from '../../support/tracing/recorded-spans.ts';

const OTHER = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
const TRACEPARENT = `00-${OTHER.traceId}-${OTHER.spanId}-01`;
const NOT_SAMPLED = `00-${OTHER.traceId}-${OTHER.spanId}-00`;
const TRUSTED = { trustedProxies: ['127.0.0.1/32'] };

let world: TracedGateway;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

async function visit(headers: NonNullable<RequestOptions['headers']>): Promise<{
  readonly server: RecordedSpan | undefined;
  readonly client: RecordedSpan | undefined;
}> {
  const spans = await world.spansOf(() => world.visit('/', { headers }));
  const ofKind = (kind: RecordedSpan['kind']): RecordedSpan | undefined =>
    spans.find((span) => span.kind === kind);
  return { server: ofKind('server'), client: ofKind('client') };
}

/** Returns the values of a field that the upstream got with its last request. */
function received(name: string): readonly string[] {
  const { headers = [] } = world.upstream.requests.at(-1) ?? {};
  return headers.filter(([field]) => field.toLowerCase() === name).map(([, value]) => value);
}

describe('the trace context of a request', () => {
  verifies(
    'tracing.propagation',
    'is linked only if it comes from anybody, and is replaced on the way to the upstream',
    async () => {
      world = await startTracedGateway();
      const { server, client } = await visit({ TraceParent: TRACEPARENT, tracestate: 'other=1' });
      expect(server).toMatchObject({ parentSpanId: undefined, links: [OTHER] });
      expect(server?.traceId).not.toBe(OTHER.traceId);
      expect(received('traceparent')).toEqual([
        `00-${String(server?.traceId)}-${String(client?.spanId)}-01`,
      ]);
      expect(received('tracestate')).toEqual([]);
    },
  );

  it('is no reason to record a request that is not sampled', async () => {
    world = await startTracedGateway({ samplingRatio: 0 });
    await world.visit('/', { headers: { traceparent: TRACEPARENT } });
    const [sent = ''] = received('traceparent');
    expect(parseTraceparent(sent)).toMatchObject({ isSampled: false });
    expect(sent).not.toContain(OTHER.traceId);
  });

  it('is continued if it comes from a trusted proxy', async () => {
    world = await startTracedGateway({ samplingRatio: 0 }, TRUSTED);
    const { server, client } = await visit({ traceparent: TRACEPARENT, tracestate: 'other=1' });
    expect(server).toMatchObject({
      traceId: OTHER.traceId,
      parentSpanId: OTHER.spanId,
      traceState: 'other=1',
      links: [],
    });
    expect(received('traceparent')).toEqual([`00-${OTHER.traceId}-${String(client?.spanId)}-01`]);
    expect(received('tracestate')).toEqual(['other=1']);
  });

  it('keeps a trace that a trusted proxy does not sample unrecorded', async () => {
    world = await startTracedGateway({}, TRUSTED);
    const spans = await world.spansOf(
      () => world.visit('/', { headers: { traceparent: NOT_SAMPLED, tracestate: 'other=1' } }),
      0,
    );
    expect(spans).toEqual([]);
    expect(received('traceparent')).toEqual([NOT_SAMPLED]);
    expect(received('tracestate')).toEqual(['other=1']);
  });

  it('is linked only, whoever sends it, if the settings say that traces begin here', async () => {
    world = await startTracedGateway({ incomingContext: 'NewTrace' }, TRUSTED);
    const { server } = await visit({ traceparent: NOT_SAMPLED });
    expect(server).toMatchObject({
      parentSpanId: undefined,
      links: [{ ...OTHER, isSampled: false }],
    });
    expect(server?.traceId).not.toBe(OTHER.traceId);
  });

  it.each([
    ['is malformed', TRACEPARENT.toUpperCase()],
    ['is repeated', [TRACEPARENT, TRACEPARENT]],
  ])('does not count if it %s, and does not reach the upstream', async (_what, traceparent) => {
    world = await startTracedGateway({}, TRUSTED);
    const { server, client } = await visit({ traceparent });
    expect(server).toMatchObject({ parentSpanId: undefined, links: [] });
    expect(received('traceparent')).toEqual([
      `00-${String(server?.traceId)}-${String(client?.spanId)}-01`,
    ]);
  });

  it('passes untouched while tracing is off', async () => {
    world = await startTracedGateway();
    world.traceBy(undefined);
    const headers = { traceparent: 'anything', tracestate: ['other=1', 'more=2'] };
    await world.visit('/', { headers });
    expect(received('traceparent')).toEqual(['anything']);
    expect(received('tracestate')).toEqual(['other=1', 'more=2']);
  });
});

describe('params._meta.traceparent of a message', () => {
  it('is linked, and the upstream gets the message unchanged', async () => {
    world = await startTracedGateway();
    const call = async (traceparent: unknown): Promise<RecordedSpan | undefined> => {
      const params = { name: 'list', _meta: { traceparent } };
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const spans = await world.spansOf(() => world.call(message));
      expect(world.bodies.at(-1)).toBe(JSON.stringify(message));
      return spans.find(({ kind }) => kind === 'server');
    };
    // The first call is linked to the sign-in of its user.
    await call(undefined);
    expect((await call(TRACEPARENT))?.links).toEqual([OTHER]);
    for (const other of ['00-abc', 7, null]) expect((await call(other))?.links).toEqual([]);
  });
});
