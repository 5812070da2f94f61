import { describe, expect, test } from '@jest/globals';

import type { ChangeSet } from '../../../../controller/compile/change-set.ts';
import type { Publication } from '../../../../controller/push/publication.ts';
import { DeliveryTraces } from '../../../../controller/telemetry/delivery-traces.ts';
import { parseTraceparent } from '../../../../shared/telemetry/tracing/trace-context.ts';
import type { Tracer } from '../../../../shared/telemetry/tracing/tracer.ts';
import { eventually } from '../../../support/eventually.ts';
import { pushedRoute, pushedSettings } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';
import { recordSpans } from '../../../support/tracing/recorded-spans.ts';

const ACCEPTS = { headers: { 'x-accepts': 'trace' } };
const DELIVERY = 'snapshot delivery';

/** The `traceparent` of each snapshot that a probe got. */
function tracesOf({ frames }: { readonly frames: readonly object[] }): readonly unknown[] {
  return frames.flatMap((frame) =>
    'count' in frame ? [(frame as { trace?: unknown }).trace] : [],
  );
}

/** Publishes a change as the controller does: its span ends while deliveries go on. */
function publishChange(publication: Publication, tracer: Tracer, put: ChangeSet['put']): void {
  const trace = tracer.start('change', 'internal');
  publication.publish({ put, deleted: [] }, trace);
  trace?.span?.end();
}

describe('the trace of a change', () => {
  test('has a span for each proxy that gets it, which names it to the proxy', async () => {
    const { tracer, spans, spanOf } = recordSpans();
    await using world = await startPushWorld({ tracer });
    const publication = world.lead(aLeadership(3));
    const proxies = [
      await world.connect({ id: 'proxy-0', ...ACCEPTS }),
      await world.connect({ id: 'proxy-1', ...ACCEPTS }),
    ];
    publishChange(publication, tracer, [pushedSettings(), pushedRoute('a')]);
    const deliveries = () => spans.filter(({ name }) => name === DELIVERY);
    await eventually('both have acknowledged', () => deliveries().length === 2);

    const publish = spanOf('publish');
    expect(publish.parentSpanId).toBe(spanOf('change').spanId);
    expect(publish.attributes).toEqual({
      'gatehouse.snapshot.changes': 2,
      'gatehouse.snapshot.position': '3.1',
    });
    expect(
      deliveries()
        .map((span) => span.attributes['gatehouse.proxy.id'])
        .sort(),
    ).toEqual(['proxy-0', 'proxy-1']);
    const [bytes] = deliveries().map((span) => span.attributes['gatehouse.snapshot.bytes']);
    expect(bytes).toBe(proxies[0]?.bytes);
    expect(new Set(deliveries().map((span) => span.parentSpanId))).toEqual(
      new Set([publish.spanId]),
    );
    const told = proxies.flatMap(tracesOf).map((text) => parseTraceparent(String(text)));
    expect(told.map((each) => each?.spanId).sort()).toEqual(
      deliveries()
        .map(({ spanId }) => spanId)
        .sort(),
    );
    expect(world.published).toMatchObject([{ version: publication.version }]);
  });

  test('is not in frames for proxies that do not accept it', async () => {
    const { tracer, spans } = recordSpans();
    await using world = await startPushWorld({ tracer });
    const publication = world.lead(aLeadership(1));
    const proxy = await world.connect({ id: 'proxy-0' });
    publishChange(publication, tracer, [pushedSettings()]);
    await eventually('it is acknowledged', () => spans.some(({ name }) => name === DELIVERY));

    expect(tracesOf(proxy)).toEqual([undefined]);
  });

  test('that is not sampled goes to the proxies all the same, and has no span', async () => {
    const { tracer, spans } = recordSpans({ samplingRatio: 0 });
    await using world = await startPushWorld({ tracer });
    const publication = world.lead(aLeadership(1));
    const proxy = await world.connect({ id: 'proxy-0', ...ACCEPTS });
    const trace = tracer.start('change', 'internal');
    publication.publish({ put: [pushedSettings()], deleted: [] }, trace);
    await eventually('it is acknowledged', () => proxy.serving !== undefined);

    const [told] = tracesOf(proxy).map((text) => parseTraceparent(String(text)));
    expect(told).toMatchObject({ traceId: trace?.context.traceId, isSampled: false });
    expect(spans).toEqual([]);
  });

  test('fails where a proxy rejects it, or goes away before it answers', async () => {
    const { tracer, spans } = recordSpans();
    await using world = await startPushWorld({ tracer });
    const publication = world.lead(aLeadership(1));
    const key = 'settings';
    await world.connect({
      id: 'proxy-0',
      answer: () => [{ key, reason: 'InvalidResource', message: 'no' }],
    });
    const silent = await world.connect({ id: 'proxy-1', answer: () => 'silence' });
    publishChange(publication, tracer, [pushedSettings()]);
    await eventually('one has it', () => silent.received.length > 0);
    await silent[Symbol.asyncDispose]();
    const errors = () =>
      spans
        .filter(({ name, error }) => name === DELIVERY && error !== undefined)
        .map((span) => span.attributes['error.type']);
    await eventually('both failed', () => errors().length >= 2);

    expect(errors()).toEqual(expect.arrayContaining(['InvalidResource', 'closed']));
  });

  test('a proxy that connects later is a trace of its own', async () => {
    const { tracer, spans, spanOf } = recordSpans();
    await using world = await startPushWorld({ tracer });
    const publication = world.lead(aLeadership(1));
    publishChange(publication, tracer, [pushedSettings()]);
    await world.connect({ id: 'proxy-0' });
    await eventually('it is acknowledged', () => spans.some(({ name }) => name === DELIVERY));

    expect(spanOf(DELIVERY).parentSpanId).toBeUndefined();
    expect(spanOf(DELIVERY).traceId).not.toBe(spanOf('publish').traceId);
  });

  test('is linked where one delivery brings it together with a later change', () => {
    const { tracer, spanOf } = recordSpans();
    const traces = new DeliveryTraces(tracer);
    const changes = [1, 2, 3, 4].map((sequence) => {
      const trace = tracer.start('change', 'internal');
      traces.published(sequence, trace);
      trace?.span?.end();
      return trace?.context;
    });
    const position = { epoch: 1, sequence: 4 };
    traces.begin({ proxyId: 'proxy-0', position, after: 1 })?.span?.end();

    expect(spanOf(DELIVERY)).toMatchObject({
      traceId: changes[3]?.traceId,
      links: [changes[1], changes[2]],
    });
  });

  test('has at most a hundred spans of deliveries', () => {
    const { tracer } = recordSpans();
    const traces = new DeliveryTraces(tracer);
    traces.published(1, tracer.start('change', 'internal'));
    const position = { epoch: 1, sequence: 1 };
    const begun = Array.from({ length: 130 }, (_, index) =>
      traces.begin({ proxyId: `proxy-${String(index)}`, position, after: 0 }),
    );

    expect(begun.filter((trace) => trace?.span !== undefined)).toHaveLength(100);
    expect(new Set(begun.map((trace) => trace?.context.traceId)).size).toBe(1);
  });
});
