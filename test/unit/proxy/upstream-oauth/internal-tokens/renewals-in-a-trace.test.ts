import { expect, test } from '@jest/globals';

import { withTrace } from '../../../../../shared/telemetry/tracing/active-trace.ts';
import { eventually } from '../../../../support/eventually.ts';
import { recordSpans } from '../../../../support/tracing/recorded-spans.ts';
import {
  aCaller,
  aConnectableRoute,
  CONTEXT,
  internalTokensFixture,
} from '../../../../support/upstream-oauth/internal-tokens-fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const RENEWAL = 'upstream token renewal';

/** Returns the renewal of a token that a request uses after this time, and the trace of the request. */
async function renewalAfter(milliseconds: number) {
  const { tracer, spans, spanOf } = recordSpans();
  using fixture = internalTokensFixture(undefined, tracer);
  await fixture.connect();
  fixture.time += milliseconds;
  const request = tracer.start('request', 'server');
  await withTrace(request, () => fixture.tokens.tokenFor(aCaller(), aConnectableRoute(), CONTEXT));
  request?.span?.end();
  await eventually('the token is renewed', () => spans.some(({ name }) => name === RENEWAL));
  return { renewal: spanOf(RENEWAL), request: request?.context };
}

test('a renewal that a request waits for is a part of its trace', async () => {
  const { renewal, request } = await renewalAfter(HOUR);
  expect(renewal).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
});

test('a renewal beside the requests has a trace of its own, linked to the one that caused it', async () => {
  const { renewal, request } = await renewalAfter(HOUR - MINUTE);
  expect(renewal).toMatchObject({ parentSpanId: undefined, links: [request] });
  expect(renewal.traceId).not.toBe(request?.traceId);
});
