import { describe, expect, it } from '@jest/globals';

import type { Span } from '../../../../../shared/telemetry/tracing/trace.ts';
import type { TracingSettings } from '../../../../../shared/telemetry/tracing/tracing-settings.ts';
import { verifies } from '../../../../requirements/verifies.ts';
import { recordSpans, type RecordedSpans } from '../../../../support/tracing/recorded-spans.ts';

const OTHER = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };

class Refusal extends Error {
  readonly reason = 'no-route';
  readonly status = 404;
}

class Failure extends Error {
  readonly reason = 'upstream-unreachable';
  readonly status = 502;
}

function startSpan(changes: Partial<TracingSettings> = {}): RecordedSpans & { span: Span } {
  const recorded = recordSpans(changes);
  const span = recorded.tracer.start('request', 'server')?.span;
  if (span === undefined) throw new Error('no span');
  return { ...recorded, span };
}

describe('a span', () => {
  it('keeps the last value of an attribute', () => {
    const { span, spanOf } = startSpan();
    span.set('http.route', '/a');
    span.set('http.response.status_code', 200);
    span.set('http.route', '/b');
    span.end();
    expect(spanOf('request').attributes).toEqual({
      'http.route': '/b',
      'http.response.status_code': 200,
    });
  });

  verifies(
    'tracing.attribute-length',
    'cuts every text to the limit, and no character in half',
    () => {
      const { span, spans } = startSpan({ attributeValueLengthLimit: 4 });
      span.set('url.path', 'abc😀d');
      span.set('mcp.method.name', ['abcdef', 'ab']);
      span.recordError(new Error('message'));
      span.rename('tools/call');
      span.end();
      expect(spans[0]).toMatchObject({ name: 'tool', error: 'Erro' });
      expect(spans[0]?.attributes).toEqual({
        'url.path': 'abc',
        'mcp.method.name': ['abcd', 'ab'],
        'error.type': 'Erro',
      });
      expect(spans[0]?.events[0]?.attributes).toEqual({
        'exception.type': 'Erro',
        'exception.message': 'Erro',
        'exception.stacktrace': '    ',
      });
    },
  );

  it('holds at most 128 attributes, events and links, and counts the others', () => {
    const { span, spanOf } = startSpan();
    for (let count = 0; count < 130; count += 1) {
      // @ts-expect-error -- there are not that many names
      span.set(`name-${String(count)}`, count);
      span.link(OTHER);
      span.recordError(new Refusal('again'));
    }
    span.end();
    const { attributes, events, links, dropped } = spanOf('request');
    const kept = [Object.keys(attributes), events, links].map(({ length }) => length);
    expect(kept).toEqual([128, 128, 128]);
    // Each error sets `error.type`, once.
    expect(dropped).toEqual([3, 2, 2]);
  });

  it('ends once, and keeps what it has then', () => {
    const { tracer, spans } = recordSpans();
    const span = tracer.start('request', 'server', { startedAt: 1 })?.span;
    if (span === undefined) throw new Error('no span');
    span.end(5);
    span.end(6);
    span.set('http.route', '/late');
    span.rename('late');
    span.link(OTHER);
    span.recordError(new Error('late'));
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ name: 'request', endedAt: 5, attributes: {}, links: [] });
    expect(spans[0]?.events).toEqual([]);
  });

  it('does not end before it starts', () => {
    const { tracer, spanOf } = recordSpans();
    tracer.start('request', 'server', { startedAt: 10 })?.span?.end(9);
    expect(spanOf('request')).toMatchObject({ startedAt: 10, endedAt: 10 });
  });

  it('has children of the same trace', () => {
    const { span, spanOf } = startSpan();
    const child = span.child('upstream request', 'client', { 'server.port': 80 }, 7);
    child.end(9);
    span.end();
    expect(child.context.traceId).toBe(span.context.traceId);
    expect(spanOf('upstream request')).toMatchObject({
      parentSpanId: span.context.spanId,
      kind: 'client',
      startedAt: 7,
      endedAt: 9,
      attributes: { 'server.port': 80 },
    });
  });

  it('records an error with its status, causes and stack', () => {
    const { span, spanOf, attributeOf } = startSpan({ attributeValueLengthLimit: 10_000 });
    span.recordError(new TypeError('broken', { cause: new Error('deeper') }));
    span.end();
    const { error, events } = spanOf('request');
    expect(error).toBe('TypeError: broken; caused by Error: deeper');
    expect(attributeOf('request', 'error.type')).toBe('TypeError');
    expect(events[0]).toMatchObject({
      name: 'exception',
      attributes: {
        'exception.type': 'TypeError',
        'exception.message': error,
        'exception.stacktrace': expect.stringContaining('recording-span.test.ts'),
      },
    });
  });

  it('does not count the fault of a caller as an error', () => {
    const { span, spanOf, attributeOf } = startSpan();
    span.recordError(new Refusal('no route for this path'));
    span.end();
    expect(spanOf('request').error).toBeUndefined();
    expect(attributeOf('request', 'error.type')).toBe('no-route');
    expect(spanOf('request').events).toHaveLength(1);
  });

  it('counts a failure of an upstream as an error', () => {
    const { span, spanOf } = startSpan();
    span.recordError(new Failure('it does not answer'));
    span.end();
    expect(spanOf('request').error).toBe('Error: it does not answer');
  });

  it.each([
    [
      'the query of a URL',
      'GET https://a.test/b?code=abc&state=d failed',
      'GET https://a.test/b failed',
    ],
    ['a query without a name', 'https://a.test/b?abc: no', 'https://a.test/b no'],
    ['the fragment of a URL', 'see https://a.test/b#access_token=abc', 'see https://a.test/b'],
    ['the query of a path', 'GET /callback?code=abc failed', 'GET /callback failed'],
    [
      'the password of a URL',
      'redis://user:secret@host:6379/0 is away',
      'redis://host:6379/0 is away',
    ],
    ['an e-mail address', 'no user <alice@example.com>', 'no user <[address]>'],
    ['an encoded e-mail address', 'no "alice%40example.com"', 'no "[address]"'],
    ['an external token', 'bad gte_abc.def', 'bad [token]'],
    ['a JWT', 'bad eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.', 'bad [token]'],
    ['what looks random', 'bad Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5', 'bad [token]'],
  ])('does not keep %s', (_what, message, cleaned) => {
    const { span, spanOf } = startSpan();
    span.recordError(new Error(message));
    span.end();
    expect(spanOf('request').error).toBe(`Error: ${cleaned}`);
  });

  it('keeps what an operator looks for', () => {
    const { span, spanOf } = startSpan();
    const message =
      'request bfc10a42-9cbb-43f4-a4e0-591d347fcc15: issuer https://login.example.com/a is not "https://login.example.com/b", connect ECONNREFUSED 10.0.0.1:80?';
    span.recordError(new Error(message));
    span.end();
    expect(spanOf('request').error).toBe(`Error: ${message}`);
  });

  it('has an error status without a description after a failure that threw nothing', () => {
    const { span, spanOf } = startSpan();
    span.fail('503');
    span.end();
    expect(spanOf('request')).toMatchObject({ error: '', events: [] });
    expect(spanOf('request').attributes).toEqual({ 'error.type': '503' });
  });

  it('keeps its events, with their attributes cut', () => {
    const { span, spanOf } = startSpan({ attributeValueLengthLimit: 4 });
    span.event('sent again', { 'error.type': 'connection-lost' });
    span.end();
    expect(spanOf('request').events).toMatchObject([
      { name: 'sent again', attributes: { 'error.type': 'conn' } },
    ]);
  });
});
