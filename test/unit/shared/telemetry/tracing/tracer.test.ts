import { describe, expect, it } from '@jest/globals';

import { parseTraceparent } from '../../../../../shared/telemetry/tracing/trace-context.ts';
import { verifies } from '../../../../requirements/verifies.ts';
import { recordSpans } from '../../../../support/tracing/recorded-spans.ts';

const SAMPLED = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };

describe('Tracer', () => {
  it('starts nothing while it is off', () => {
    const { tracer } = recordSpans();
    tracer.apply(undefined);
    expect(tracer.isOn).toBe(false);
    expect(tracer.start('request', 'server')).toBeUndefined();
  });

  it('starts a trace of its own, with ids that others can parse', () => {
    const { tracer, spanOf } = recordSpans();
    const trace = tracer.start('request', 'server', { startedAt: 10 });
    trace?.span?.end(30);
    const { traceId, spanId, isSampled } = trace?.context ?? SAMPLED;
    expect(isSampled).toBe(true);
    expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toBeDefined();
    expect(spanOf('request')).toMatchObject({
      traceId,
      spanId,
      parentSpanId: undefined,
      kind: 'server',
      startedAt: 10,
      endedAt: 30,
      error: undefined,
    });
  });

  it('continues the trace of a sampled parent, whatever its own ratio says', () => {
    const { tracer, spanOf } = recordSpans({ samplingRatio: 0 });
    const parent = { ...SAMPLED, traceState: 'a=1' };
    const trace = tracer.start('request', 'server', { parent });
    trace?.span?.end();
    expect(trace?.context).toMatchObject({ traceId: parent.traceId, traceState: 'a=1' });
    expect(spanOf('request')).toMatchObject({
      traceId: parent.traceId,
      parentSpanId: parent.spanId,
      traceState: 'a=1',
    });
  });

  it('makes no span below a parent that is not sampled, and passes the parent on', () => {
    const { tracer } = recordSpans();
    const parent = { ...SAMPLED, isSampled: false };
    const trace = tracer.start('request', 'server', { parent });
    expect(trace?.span).toBeUndefined();
    expect(trace?.context).toEqual(parent);
  });

  it('samples no trace at ratio 0, and keeps its ids', () => {
    const { tracer } = recordSpans({ samplingRatio: 0 });
    const trace = tracer.start('request', 'server');
    expect(trace?.span).toBeUndefined();
    expect(trace?.context).toMatchObject({ isSampled: false });
    expect(trace?.context).toEqual(trace?.context);
  });

  verifies('tracing.sampler', 'samples as many traces as the ratio says', () => {
    const { tracer } = recordSpans({ samplingRatio: 0.25 });
    let sampled = 0;
    for (let count = 0; count < 10_000; count += 1) {
      if (tracer.start('request', 'server')?.span !== undefined) sampled += 1;
    }
    expect(sampled).toBeGreaterThan(2_000);
    expect(sampled).toBeLessThan(3_000);
  });

  it('gives no two spans the same id', () => {
    const { tracer } = recordSpans();
    const ids = new Set<string | undefined>();
    for (let count = 0; count < 10_000; count += 1) {
      const { traceId, spanId } = tracer.start('request', 'server')?.context ?? SAMPLED;
      ids.add(traceId);
      ids.add(spanId);
    }
    expect(ids.size).toBe(20_000);
  });

  it('takes the attributes and links that a trace starts with', () => {
    const { tracer, spanOf } = recordSpans();
    const attributes = { 'http.request.method': 'POST' };
    tracer.start('request', 'server', { links: [SAMPLED], attributes })?.span?.end();
    expect(spanOf('request').links).toEqual([SAMPLED]);
    expect(spanOf('request').attributes).toEqual(attributes);
  });

  it('cuts the texts of traces that start after a change to the new limit', () => {
    const { tracer, attributeOf } = recordSpans();
    const { settings } = tracer;
    tracer.apply(settings && { ...settings, attributeValueLengthLimit: 3 });
    const span = tracer.start('request', 'server')?.span;
    span?.set('url.path', '/invoices');
    span?.end();
    expect(attributeOf('request', 'url.path')).toBe('/in');
  });
});

describe('a trace that joins an earlier one', () => {
  it('moves with the spans that it has, and keeps their parents', () => {
    const { tracer, spanOf } = recordSpans();
    const trace = tracer.start('request', 'server');
    const before = trace?.span?.child('authenticate', 'internal');
    before?.end();
    trace?.join(SAMPLED);
    trace?.span?.child('policy', 'internal').end();
    trace?.span?.end();
    const { spanId } = spanOf('request');
    expect(spanOf('request')).toMatchObject({
      traceId: SAMPLED.traceId,
      parentSpanId: SAMPLED.spanId,
    });
    for (const name of ['authenticate', 'policy']) {
      expect(spanOf(name)).toMatchObject({ traceId: SAMPLED.traceId, parentSpanId: spanId });
    }
    expect(trace?.context).toEqual({ ...SAMPLED, spanId });
  });

  it('records nothing more if that one is not sampled, and passes it on', () => {
    const { tracer, spans } = recordSpans();
    const trace = tracer.start('request', 'server');
    const child = trace?.span?.child('policy', 'internal');
    const notSampled = { ...SAMPLED, isSampled: false };
    trace?.join(notSampled);
    child?.end();
    expect(trace?.span).toBeUndefined();
    expect(trace?.context).toEqual(notSampled);
    expect(spans).toEqual([]);
  });

  it('gets a span if that one is sampled and its own ratio said no', () => {
    const { tracer, spanOf } = recordSpans({ samplingRatio: 0 });
    const trace = tracer.start('request', 'server', { startedAt: 10 });
    trace?.join(SAMPLED);
    trace?.span?.end(30);
    const { spanId } = spanOf('request');
    expect(spanOf('request')).toMatchObject({ parentSpanId: SAMPLED.spanId, startedAt: 10 });
    expect(trace?.context).toEqual({ ...SAMPLED, spanId });
  });

  it('keeps the parent that it has, and links the other trace', () => {
    const { tracer, spanOf } = recordSpans();
    const parent = { ...SAMPLED, traceId: 'c'.repeat(32) };
    const trace = tracer.start('request', 'server', { parent });
    trace?.join(SAMPLED);
    trace?.span?.end();
    expect(spanOf('request')).toMatchObject({ traceId: parent.traceId, links: [SAMPLED] });
  });
});
