import { expect, test } from '@jest/globals';

import { SessionCookieAuthenticator } from '../../../../proxy/authentication/session-cookie-authenticator.ts';
import { hashToken, randomToken } from '../../../../proxy/crypto/tokens.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import type { TraceContext } from '../../../../shared/telemetry/tracing/trace-context.ts';
import { anOrigin } from '../../../support/an-origin.ts';
import { AN_IDENTITY } from '../../../contract/redis-records.ts';
import { recordSpans } from '../../../support/tracing/recorded-spans.ts';

const ORIGIN = anOrigin('https://app.example');
const SIGN_IN: TraceContext = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  isSampled: true,
};

/** A browser whose sign-in ended at time 0, and requests with its cookie. */
async function aBrowser({ trace = SIGN_IN, samplingRatio = 1 } = {}) {
  const clock = { now: 0 };
  const now = (): number => clock.now;
  const stores = createMemoryStores(now);
  const [cookie, id] = [randomToken(), randomToken()];
  const times = { createdAt: 0, expiresAt: 3_600_000 };
  await stores.sessions.create({ id, signInId: 'sign-in-1', identity: AN_IDENTITY, ...times });
  const signIn = { trace, endedAt: 0 };
  const browserSession = { sessionId: id, origin: ORIGIN, signIn };
  await stores.browserSessions.save(hashToken(cookie), browserSession, times.expiresAt);
  const outageGraceSeconds = (): number => 0;
  const process = (): SessionCookieAuthenticator =>
    new SessionCookieAuthenticator({ stores, now, isOfProvider: () => true, outageGraceSeconds });
  const { tracer, spans } = recordSpans({ samplingRatio });
  /** Returns the trace of a request, its parent and its links. */
  const request = async (browsers: SessionCookieAuthenticator, origin = ORIGIN) => {
    const trace = tracer.start('request', 'server');
    await browsers.callerOf(cookie, origin, trace);
    trace?.span?.end();
    const { parentSpanId, links = [] } = spans.at(-1) ?? {};
    return { traceId: trace?.context.traceId, parentSpanId, links, spans: spans.length };
  };
  return { clock, process, request };
}

const PART_OF_IT = { traceId: SIGN_IN.traceId, parentSpanId: SIGN_IN.spanId, links: [] };

test('the first request of a browser after its sign-in belongs to the trace of the sign-in', async () => {
  const { clock, process, request } = await aBrowser();
  using browsers = process();
  clock.now = 59_000;
  expect(await request(browsers)).toMatchObject(PART_OF_IT);

  clock.now = 65_000;
  const next = await request(browsers);
  expect(next.traceId).not.toBe(SIGN_IN.traceId);
  expect(next.links).toEqual([]);
});

test('a process that first gets the browser later links its first request to the sign-in', async () => {
  const { clock, process, request } = await aBrowser();
  clock.now = 60_000;
  using browsers = process();
  const first = await request(browsers);
  expect(first.traceId).not.toBe(SIGN_IN.traceId);
  expect(first.links).toEqual([SIGN_IN]);
  clock.now = 70_000;
  expect((await request(browsers)).links).toEqual([]);
});

test('the first request is recorded if the sign-in was, and only then', async () => {
  const sampled = await aBrowser({ samplingRatio: 0 });
  using browsers = sampled.process();
  expect(await sampled.request(browsers)).toMatchObject({ ...PART_OF_IT, spans: 1 });

  const unsampled = await aBrowser({ trace: { ...SIGN_IN, isSampled: false } });
  using others = unsampled.process();
  expect(await unsampled.request(others)).toMatchObject({ traceId: SIGN_IN.traceId, spans: 0 });
});

// Attack: a cookie stolen at one host, sent to another one to get into the trace of its user.
test('a cookie at another host leads to no trace', async () => {
  const { clock, process, request } = await aBrowser();
  using browsers = process();
  clock.now = 1;
  const elsewhere = await request(browsers, anOrigin('https://other.example'));
  expect(elsewhere.traceId).not.toBe(SIGN_IN.traceId);
  expect(elsewhere.links).toEqual([]);
});
