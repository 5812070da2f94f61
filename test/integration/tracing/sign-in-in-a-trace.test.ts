import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { BrowserJar, type BrowserPage } from '../../support/browser-jar.ts';
import { eventually } from '../../support/eventually.ts';
import { signInAt, startSignInWorld, type SignInWorld } from '../../support/sign-in-world.ts';
import { attributeOf, startTracing, type TestTracing } from '../../support/tracing/test-tracing.ts';
import type { RecordedSpan } from '../../support/tracing/recorded-spans.ts';

let tracing: TestTracing;
let world: SignInWorld;
let authenticate: string;
let one: string;

beforeAll(async () => {
  tracing = startTracing();
  world = await startSignInWorld({ tracing: tracing.process });
  authenticate = world.originOf('authenticate');
  one = world.originOf('one');
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(async () => {
  tracing.traceBy({});
  await world.serve({ routes: [one], authenticateUrl: authenticate });
});

function pathOf(span: RecordedSpan): string {
  return `${String(attributeOf(span, 'server.address'))}${String(attributeOf(span, 'url.path'))}`;
}

/** Everything that the gateway let a browser see. */
function seen({ hops, body }: BrowserPage): string {
  return hops.map(({ url, headers }) => url + JSON.stringify(headers)).join('\n') + body;
}

describe('The trace of a sign-in', () => {
  verifies(
    'tracing.sign-ins',
    'reaches from the first request to the page, over two hosts and the provider',
    async () => {
      const browser = new BrowserJar();
      const page = await signInAt(browser, `${one}/page?private=1`);
      expect(page.status).toBe(200);

      const spans = await tracing.requests(5);
      expect(spans.map(pathOf)).toEqual([
        'one.localhost/page',
        'authenticate.localhost/.gateway/sign_in',
        'authenticate.localhost/.gateway/callback',
        'one.localhost/.gateway/callback',
        'one.localhost/page',
      ]);
      const [first, ...others] = spans;
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      expect(first?.parentSpanId).toBeUndefined();
      expect(others.map(({ parentSpanId }) => parentSpanId)).toEqual(
        spans.slice(0, -1).map(({ spanId }) => spanId),
      );
    },
  );

  test('has the calls to the provider below the request that waits for them', async () => {
    await signInAt(new BrowserJar(), `${one}/`);
    const [, signIn, callback] = await tracing.requests(5);
    const calls = tracing
      .spans()
      .filter(({ name }) => name === 'identity provider request')
      .map((span) => [attributeOf(span, 'gatehouse.call.operation'), span.parentSpanId]);
    expect(calls).toEqual(
      expect.arrayContaining([
        ['token', callback?.spanId],
        ['userinfo', callback?.spanId],
      ]),
    );
    expect(tracing.spans().every(({ traceId }) => traceId === signIn?.traceId)).toBe(true);
  });

  test('is nowhere that the browser could read it', async () => {
    const browser = new BrowserJar();
    const first = await browser.open(`${one}/`);
    const second = await browser.submit(first, { login: 'alice' });
    const [span] = await tracing.requests(5);
    const text = seen(first) + seen(second) + browser.cookies.map(({ text }) => text).join();
    const decoded = text
      .split(/[^\w-]+/)
      .map((word) => Buffer.from(word, 'base64url').toString('latin1'))
      .join();
    for (const where of [text, decoded]) expect(where).not.toContain(span?.traceId);
  });

  test('is recorded whole or not at all, as its first request was', async () => {
    tracing.traceBy({ samplingRatio: 0.5 });
    for (let turn = 0; turn < 12; turn += 1) await signInAt(new BrowserJar(), `${one}/`);
    const requestsOfTraces = (): readonly number[] => {
      const spans = tracing.spans().filter(({ kind }) => kind === 'server');
      return [...Map.groupBy(spans, ({ traceId }) => traceId).values()].map(({ length }) => length);
    };
    // The span of the last request may end after its response.
    await eventually('no sign-in is recorded in part', () =>
      requestsOfTraces().every((count) => count === 5),
    );
    expect(new Set(requestsOfTraces()).size).toBeLessThan(2);
  });

  test('goes on in the trace of a sign-in that was sampled, if no other trace is', async () => {
    // Of a provider that is not discovered yet.
    const provider = { name: 'again' };
    await world.serve({ routes: [one], authenticateUrl: authenticate, provider });
    const page = await new BrowserJar().open(`${one}/page`, { stopAt: isSignIn });
    const [first] = await tracing.requests(1);
    tracing.traceBy({ samplingRatio: 0 });
    await new BrowserJar().open(page.headers.location ?? '', { stopAt: isAtProvider });
    const [signIn] = await tracing.requests(1);
    expect(signIn).toMatchObject({ traceId: first?.traceId, parentSpanId: first?.spanId });
    const discovery = tracing.spans().find(({ name }) => name === 'identity provider request');
    expect(discovery).toMatchObject({ traceId: first?.traceId, parentSpanId: signIn?.spanId });
  });
});

function isSignIn(url: string): boolean {
  return url.includes('/.gateway/sign_in');
}

function isAtProvider(url: string): boolean {
  return url.startsWith(world.provider.issuer);
}

describe('A request of an attacker', () => {
  // Attack: the answer to one browser's sign-in, opened by another browser.
  test('with the state of another browser starts a trace of its own', async () => {
    const victim = new BrowserJar();
    const start = await victim.open(`${one}/`);
    const stopAt = (url: string): boolean => url.includes('/.gateway/callback');
    const last = await victim.submit(start, { login: 'alice' }, { stopAt });
    const [first] = await tracing.requests(2);
    await new BrowserJar().open(last.headers.location ?? '');
    const [, , stolen] = await tracing.requests(3);
    expect(stolen?.traceId).not.toBe(first?.traceId);
    expect(stolen?.links).toEqual([]);
  });

  // Attack: a sealed request that was changed, or made up, with a trace that the attacker knows.
  test('with a forged sign-in request starts a trace of its own', async () => {
    const page = await new BrowserJar().open(`${one}/page`, { stopAt: isSignIn });
    const location = page.headers.location ?? '';
    const changed = location.slice(0, -4) + (location.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    await new BrowserJar().open(changed);
    await new BrowserJar().open(`${authenticate}/.gateway/callback?state=made-up&code=x`);
    const [first, ...others] = await tracing.requests(3);
    for (const other of others) expect(other.traceId).not.toBe(first?.traceId);
    expect(new Set(others.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([undefined]));
  });
});

describe('A sign-in that fails', () => {
  test('because of a wrong issuer says on its span what was expected and found', async () => {
    const issuerUrl = world.provider.issuer.replace('127.0.0.1', 'localhost');
    await world.serve({ routes: [one], authenticateUrl: authenticate, provider: { issuerUrl } });
    const page = await new BrowserJar().open(`${one}/`);
    expect(page.status).toBe(502);
    const [, signIn] = await tracing.requests(2);
    const expected = `expected the issuer ${new URL(issuerUrl).href}`;
    expect(signIn?.error).toContain(expected.replace(/\/$/, ''));
    expect(signIn?.error).toContain(`found ${world.provider.issuer}`);
  });
});
