import { describe, expect, test } from '@jest/globals';

import { OutboundCalls, type OutboundKind } from '../../../../proxy/outbound/outbound-calls.ts';
import { OutboundFailedError } from '../../../../proxy/outbound/outbound-errors.ts';
import { withTrace } from '../../../../shared/telemetry/tracing/active-trace.ts';
import { formatTraceparent } from '../../../../shared/telemetry/tracing/trace-context.ts';
import { recordSpans } from '../../../support/tracing/recorded-spans.ts';

const URL_WITH_SECRET = 'https://user:pass@id.example:8443/users/alice/token?code=secret#part';

/** Makes a call of a kind during a request, and returns its span, the fields it was sent with, and what was observed. */
async function call(
  kind: OutboundKind,
  answer: () => Promise<{ status: number }> = () => Promise.resolve({ status: 200 }),
  url = URL_WITH_SECRET,
) {
  const { tracer, spans } = recordSpans();
  const observed: unknown[] = [];
  const calls = new OutboundCalls({
    observe: (...[of, operation, outcome]) => void observed.push([of, operation, outcome]),
  });
  const trace = tracer.start('request', 'server');
  const sent: Readonly<Record<string, string>>[] = [];
  const outbound = { kind, operation: 'token', method: 'POST', url };
  const error: unknown = await withTrace(trace, () =>
    calls.run(outbound, (fields) => {
      sent.push(fields);
      return answer();
    }),
  ).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  trace?.span?.end();
  const [span, ...others] = spans.filter(({ kind: of }) => of === 'client');
  if (span === undefined || others.length > 0) throw new Error('not one span');
  return { request: trace?.context, span, fields: sent[0], observed, error };
}

describe('A call to another server', () => {
  test('is a span of the request that waits for it, without path and query', async () => {
    const { request, span, observed } = await call('provider');
    expect(span).toMatchObject({
      name: 'identity provider request',
      kind: 'client',
      parentSpanId: request?.spanId,
    });
    expect(span.attributes).toEqual({
      'gatehouse.call.operation': 'token',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': 'id.example',
      'server.port': 8443,
    });
    expect(observed).toEqual([['provider', 'token', 'status-200']]);
  });

  test('names an IPv6 address without brackets, and the usual port of its scheme', async () => {
    const { span } = await call('provider', undefined, 'https://[2001:db8::1]/token');
    expect(span.attributes).toMatchObject({
      'server.address': '2001:db8::1',
      'server.port': 443,
    });
  });

  test.each(['provider', 'upstream-oauth'] as const)(
    'takes the trace along to a server of the kind %s',
    async (kind) => {
      const { span, fields } = await call(kind);
      const { traceId, spanId } = span;
      expect(fields?.['traceparent']).toBe(formatTraceparent({ traceId, spanId, isSampled: true }));
    },
  );

  // Attack: a stranger names a server, which learns ids of traces.
  test('tells the server of a client nothing of the trace', async () => {
    const { span, fields } = await call('client-metadata');
    expect(span.name).toBe('client metadata request');
    expect(fields).toEqual({});
  });

  test('that fails shows why', async () => {
    const failure = new OutboundFailedError('dns', 'id.example cannot be resolved');
    const { span, observed, error } = await call('upstream-oauth', () => Promise.reject(failure));
    expect(error).toBe(failure);
    expect(span.error).toContain('id.example cannot be resolved');
    expect(observed).toEqual([['upstream-oauth', 'token', 'failed-dns']]);
  });

  test.each([
    ['provider', 400, '400'],
    ['client-metadata', 404, '404'],
    ['upstream-oauth', 404, undefined],
    ['upstream-oauth', 503, '503'],
  ] as const)('of the kind %s with status %i has the error %s', async (kind, status, type) => {
    const { span } = await call(kind, () => Promise.resolve({ status }));
    expect(span.attributes['error.type']).toBe(type);
    expect(span.error === undefined).toBe(type === undefined);
  });

  test('is made without a trace too', async () => {
    const fields: unknown[] = [];
    const outbound = { kind: 'provider', operation: 'keys', method: 'GET', url: 'x' } as const;
    await new OutboundCalls().run(outbound, (given) => {
      fields.push(given);
      return Promise.resolve({ status: 200 });
    });
    expect(fields).toEqual([{}]);
  });
});
