import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import {
  activeTrace,
  injectTrace,
  inOwnTrace,
  inSpan,
  withJoiningTrace,
  withTrace,
} from '../../../../../shared/telemetry/tracing/active-trace.ts';
import { recordSpans } from '../../../../support/tracing/recorded-spans.ts';

describe('withTrace', () => {
  it('keeps a sampled trace active in what the work waits for, and nowhere else', async () => {
    const { tracer } = recordSpans();
    const trace = tracer.start('request', 'server');
    const seen = await withTrace(trace, async () => {
      await setImmediate();
      return activeTrace();
    });
    expect(seen).toBe(trace);
    expect(activeTrace()).toBeUndefined();
  });

  it('runs work of traces that are off or not sampled without one', () => {
    const { tracer } = recordSpans({ samplingRatio: 0 });
    expect(withTrace(tracer.start('request', 'server'), activeTrace)).toBeUndefined();
    expect(withTrace(undefined, activeTrace)).toBeUndefined();
  });
});

describe('withJoiningTrace', () => {
  it('records work of a trace that joins a sampled one meanwhile', async () => {
    const { tracer, spanOf } = recordSpans({ samplingRatio: 0 });
    const earlier = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
    const trace = tracer.start('request', 'server');
    await withJoiningTrace(trace, async () => {
      await setImmediate();
      trace?.join(earlier);
      await inSpan('Redis command', 'client', {}, () => Promise.resolve());
    });
    trace?.span?.end();
    expect(spanOf('request')).toMatchObject({
      traceId: earlier.traceId,
      parentSpanId: earlier.spanId,
    });
    expect(spanOf('Redis command').parentSpanId).toBe(spanOf('request').spanId);
  });

  it('runs work without a trace while tracing is off', () => {
    expect(withJoiningTrace(undefined, activeTrace)).toBeUndefined();
  });
});

describe('inSpan', () => {
  it('makes a child of the active span, which is active in the work', async () => {
    const { tracer, spanOf } = recordSpans();
    const trace = tracer.start('request', 'server');
    const result = await withTrace(trace, () =>
      inSpan('authenticate', 'internal', { 'gatehouse.route.name': 'a' }, () =>
        inSpan('upstream request', 'client', {}, async (span) => {
          await setImmediate();
          span?.set('http.response.status_code', 204);
          return 'done';
        }),
      ),
    );
    trace?.span?.end();
    expect(result).toBe('done');
    const authenticated = spanOf('authenticate');
    expect(authenticated.parentSpanId).toBe(trace?.context.spanId);
    expect(authenticated.attributes).toEqual({ 'gatehouse.route.name': 'a' });
    expect(spanOf('upstream request')).toMatchObject({
      parentSpanId: authenticated.spanId,
      attributes: { 'http.response.status_code': 204 },
    });
  });

  it('records the error of the work, and throws it', async () => {
    const { tracer, spanOf } = recordSpans();
    const trace = tracer.start('request', 'server');
    const failing = withTrace(trace, () =>
      inSpan('authenticate', 'internal', {}, () => Promise.reject(new Error('no answer'))),
    );
    await expect(failing).rejects.toThrow('no answer');
    trace?.span?.end();
    expect(spanOf('authenticate').error).toBe('Error: no answer');
  });

  it('only runs the work without an active trace', async () => {
    const { spans } = recordSpans();
    const work = (span: unknown): Promise<unknown> => Promise.resolve(span);
    await expect(inSpan('authenticate', 'internal', {}, work)).resolves.toBeUndefined();
    expect(spans).toHaveLength(0);
  });
});

describe('inOwnTrace', () => {
  it('runs work in a trace of its own, which is linked to that of its cause', async () => {
    const { tracer, spanOf } = recordSpans();
    const request = tracer.start('request', 'server');
    await withTrace(request, () =>
      inOwnTrace(tracer, 'upstream token renewal', () =>
        inSpan('Redis command', 'client', {}, () => Promise.resolve()),
      ),
    );
    const renewal = spanOf('upstream token renewal');
    expect(renewal).toMatchObject({ parentSpanId: undefined, links: [request?.context] });
    expect(renewal.traceId).not.toBe(request?.context.traceId);
    expect(spanOf('Redis command')).toMatchObject({
      traceId: renewal.traceId,
      parentSpanId: renewal.spanId,
    });
  });

  it('adds nothing to the trace of the cause if its own is not sampled, or tracing is off', async () => {
    const { tracer, spans } = recordSpans();
    const { tracer: unsampled } = recordSpans({ samplingRatio: 0 });
    await withTrace(tracer.start('request', 'server'), async () => {
      for (const own of [unsampled, undefined]) {
        await inOwnTrace(own, 'upstream token renewal', () =>
          inSpan('Redis command', 'client', {}, () => Promise.resolve()),
        );
      }
    });
    expect(spans).toEqual([]);
  });

  it('records the error of the work, and rejects with it', async () => {
    const { tracer, spanOf } = recordSpans();
    const failure = new Error('no answer');
    const failing = inOwnTrace(tracer, 'upstream token renewal', () => Promise.reject(failure));
    await expect(failing).rejects.toBe(failure);
    expect(spanOf('upstream token renewal').error).toBe('Error: no answer');
  });
});

describe('injectTrace', () => {
  it('adds the context of the active trace', () => {
    const { tracer } = recordSpans();
    const parent = {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      isSampled: true,
      traceState: 'c=d',
    };
    const trace = tracer.start('request', 'server', { parent });
    const headers = {};
    withTrace(trace, () => {
      injectTrace(headers);
    });
    expect(headers).toEqual({
      traceparent: `00-${parent.traceId}-${trace?.context.spanId ?? ''}-01`,
      tracestate: 'c=d',
    });
  });

  it('adds nothing without one', () => {
    const headers = {};
    injectTrace(headers);
    expect(headers).toEqual({});
  });
});
