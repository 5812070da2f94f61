import { expect, test } from '@jest/globals';

import { setServer } from '../../../../../proxy/telemetry/tracing/set-server.ts';
import { recordSpans } from '../../../../support/tracing/recorded-spans.ts';

test.each([
  ['https://api.example.com', { 'server.address': 'api.example.com', 'server.port': 443 }],
  ['http://api.example.com', { 'server.address': 'api.example.com', 'server.port': 80 }],
  ['https://api.example.com:8443', { 'server.address': 'api.example.com', 'server.port': 8443 }],
  ['http://127.0.0.1:80', { 'server.address': '127.0.0.1', 'server.port': 80 }],
  ['https://[::1]', { 'server.address': '::1', 'server.port': 443 }],
  ['http://[2001:db8::1]:8080', { 'server.address': '2001:db8::1', 'server.port': 8080 }],
])('a span has the server and port of %s', (origin, attributes) => {
  const { tracer, spanOf } = recordSpans();
  const span = tracer.start('request', 'server')?.span;
  if (span === undefined) throw new Error('no span');
  const [scheme = '', authority = ''] = origin.split('://');
  setServer(span, authority, scheme);
  span.end();
  expect(spanOf('request').attributes).toEqual(attributes);
});

test('a span has no port of a server whose scheme is not known, unless it is named', () => {
  const { tracer, spanOf } = recordSpans();
  const span = tracer.start('request', 'server')?.span;
  if (span === undefined) throw new Error('no span');
  setServer(span, 'unknown.example.com', undefined);
  span.end();
  expect(spanOf('request').attributes).toEqual({ 'server.address': 'unknown.example.com' });
});
