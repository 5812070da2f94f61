import { describe, expect, test } from '@jest/globals';

import { Collector } from '../../support/collector/collector.ts';
import type { ReceivedSpan } from '../../support/collector/received-span.ts';
import { exportingTo, startTracedProcess } from '../../support/tracing/traced-process.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const LOOPBACK = ['127.0.0.0/8'];

describe('the share of the traces that are sampled', () => {
  test.each([
    ['0', 0, 0],
    // All but one in 10^9 runs are between these.
    ['0.5', 130, 270],
    ['1', 400, 400],
  ])('is as the settings say: %s', async (samplerArg, least, most) => {
    await using collector = await Collector.start();
    const settings = exportingTo(collector.endpoint('grpc'), { protocol: 'grpc', samplerArg });
    await using gateway = await startTracedProcess(settings);
    for (let each = 0; each < 400; each += 1) await gateway.send('/');
    gateway.gatehouse.signal('SIGTERM');
    await gateway.gatehouse.exited();

    const servers = collector.spans.filter(({ kind }) => kind === 'server');
    expect(servers.length).toBeGreaterThanOrEqual(least);
    expect(servers.length).toBeLessThanOrEqual(most);
    // A trace is sampled whole.
    expect(collector.spans).toHaveLength(servers.length * 3);
    const sampled = gateway.upstream.requests.filter(({ message }) =>
      String(message.headers['traceparent']).endsWith('-01'),
    );
    expect(sampled).toHaveLength(servers.length);
  });
});

describe('the trace that a request names', () => {
  test('is continued if a trusted proxy sends it, with its decision', async () => {
    const { sampled, unsampled, forwarded } = await traces({ trustedProxies: LOOPBACK });
    expect(sampled).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'vendor=1' });
    expect(unsampled).toBeUndefined();
    expect(forwarded[0]).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`));
    expect(forwarded[0]).not.toContain(PARENT);
    expect(forwarded[1]).toBe(`00-${TRACE}-${PARENT}-00`);
  });

  test('is linked if a stranger sends it, whose decision does not count', async () => {
    const { sampled, unsampled } = await traces({});
    for (const span of [sampled, unsampled]) {
      expect(span?.traceId).not.toBe(TRACE);
      expect(span?.parentSpanId).toBeUndefined();
      expect(span?.links).toMatchObject([{ traceId: TRACE, spanId: PARENT }]);
    }
  });

  test('is linked if the settings want a trace of their own', async () => {
    const { sampled } = await traces({ trustedProxies: LOOPBACK }, 'NewTrace');
    expect(sampled?.traceId).not.toBe(TRACE);
    expect(sampled?.links).toMatchObject([{ traceId: TRACE, spanId: PARENT }]);
  });
});

/** What became of two requests that name a trace: one that is sampled there, and one that is not. */
interface TwoTraces {
  readonly sampled: ReceivedSpan | undefined;
  readonly unsampled: ReceivedSpan | undefined;
  /** Values of `traceparent` at the upstream. */
  readonly forwarded: readonly string[];
}

async function traces(
  settings: { trustedProxies?: string[] },
  incomingContext: 'TrustedProxies' | 'NewTrace' = 'TrustedProxies',
): Promise<TwoTraces> {
  await using collector = await Collector.start();
  const tracing = exportingTo(collector.endpoint('grpc'), { protocol: 'grpc', incomingContext });
  await using gateway = await startTracedProcess({ ...settings, ...tracing });
  for (const [path, flags] of [
    ['/sampled', '01'],
    ['/unsampled', '00'],
  ] as const) {
    const traceparent = `00-${TRACE}-${PARENT}-${flags}`;
    await gateway.send(path, { headers: { traceparent, tracestate: 'vendor=1' } });
  }
  gateway.gatehouse.signal('SIGTERM');
  await gateway.gatehouse.exited();
  const spanOf = (path: string): ReceivedSpan | undefined =>
    collector.spans.find(
      ({ kind, attributes }) => kind === 'server' && attributes['url.path'] === path,
    );
  return {
    sampled: spanOf('/sampled'),
    unsampled: spanOf('/unsampled'),
    forwarded: gateway.upstream.requests.map(({ message }) =>
      String(message.headers['traceparent']),
    ),
  };
}
