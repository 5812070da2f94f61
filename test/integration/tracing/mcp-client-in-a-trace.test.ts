import { createHash } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { startConnectWorld, walk, type ConnectWorld } from '../../support/connect-world.ts';
import { membersOf, send } from '../../support/http-client.ts';
import { discover, mcpHeaders, postForm, register } from '../../support/signed-in-client.ts';
import { attributeOf, startTracing, type TestTracing } from '../../support/tracing/test-tracing.ts';
import type { RecordedSpan } from '../../support/tracing/recorded-spans.ts';

const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const CALLBACK = 'https://client.example/callback';
const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

let tracing: TestTracing;
let world: ConnectWorld;

beforeAll(async () => {
  tracing = startTracing();
  world = await startConnectWorld({ tracing: tracing.process, hasAuthenticateHost: true });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(() => {
  tracing.traceBy({});
});

/** Returns the token of a client whose user signed in, approved it and connected the server. */
async function authorizedToken(): Promise<string> {
  const server = await discover(world.files.url);
  const client_id = await register(server, CALLBACK);
  const parameters = { client_id, redirect_uri: CALLBACK, resource: server.resource };
  const query = new URLSearchParams({
    ...{ ...parameters, response_type: 'code' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
  });
  const stopAt = (url: string): boolean => url.startsWith(CALLBACK);
  const url = `${server.authorizationEndpoint}?${query.toString()}`;
  const { headers } = await walk(new BrowserJar(), url, { stopAt });
  const code = new URL(headers.location ?? '').searchParams.get('code') ?? '';
  const redemption = { grant_type: 'authorization_code', code_verifier: VERIFIER, code };
  const answer = await postForm(server.tokenEndpoint, { ...parameters, ...redemption });
  return String(membersOf(answer)['access_token']);
}

/** Calls the server with a token, at this port of a gateway. */
async function call(token: string, port?: number): Promise<void> {
  const url = new URL(world.files.url);
  const { host } = url;
  if (port !== undefined) url.port = String(port);
  const headers = { ...mcpHeaders(token), host };
  const { status } = await send(url.href, {
    ...{ method: 'POST', headers, body: JSON.stringify(MESSAGE) },
  });
  expect(status).toBe(200);
}

function pathOf(span: RecordedSpan | undefined): unknown {
  return span && attributeOf(span, 'url.path');
}

/** Returns the spans of the requests of the authorization, in their order, the token request last. */
async function spansOfAuthorization(): Promise<readonly RecordedSpan[]> {
  const all = await tracing.requests(1);
  const first = all.find((span) => pathOf(span) === '/.gateway/mcp/authorize');
  return all.filter(({ traceId }) => traceId === first?.traceId);
}

test('authorization, sign-in, consent, connection, code and token are one trace', async () => {
  await authorizedToken();
  await tracing.requests(13);
  const spans = await spansOfAuthorization();
  expect(spans.map(pathOf)).toEqual([
    '/.gateway/mcp/authorize',
    '/.gateway/mcp/consent',
    '/.gateway/sign_in',
    '/.gateway/callback',
    '/.gateway/mcp/consent',
    '/.gateway/mcp/consent',
    '/.gateway/mcp/connect',
    '/.gateway/sign_in',
    '/.gateway/callback',
    '/.gateway/mcp/connect',
    '/.gateway/mcp/client/oauth/callback',
    '/.gateway/mcp/token',
  ]);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const [first, ...others] = spans;
  expect(first?.parentSpanId).toBeUndefined();
  for (const { parentSpanId = '' } of others) expect(ids.has(parentSpanId)).toBe(true);

  const calls = tracing.spans().filter(({ name }) => name === 'upstream OAuth request');
  expect(calls.every(({ traceId }) => traceId === first?.traceId)).toBe(true);
  const steps = calls.map((span) => attributeOf(span, 'gatehouse.call.operation'));
  expect(steps).toEqual(
    expect.arrayContaining(['challenge', 'resource-metadata', 'server-metadata', 'token']),
  );
});

test('the first call with the token at each proxy is linked to it, and no other', async () => {
  const token = await authorizedToken();
  const issued = (await spansOfAuthorization()).at(-1);
  expect(pathOf(issued)).toBe('/.gateway/mcp/token');
  await using peer = await world.users.startPeer();
  tracing.traceBy({});
  await call(token);
  await call(token);
  await call(token, peer.port);
  world.clock.offset += 6_000;
  await call(token);

  const calls = await tracing.requests(4);
  expect(calls.map(({ links }) => links.map(({ spanId }) => spanId))).toEqual([
    [issued?.spanId],
    [],
    [issued?.spanId],
    [],
  ]);
  for (const { traceId } of calls) expect(traceId).not.toBe(issued?.traceId);
});

test('the first call with the token of an application is linked to the sign-in of its user', async () => {
  await authorizedToken();
  tracing.traceBy({});
  await walk(new BrowserJar(), `${world.app}/`);
  const [signIn] = await tracing.requests(5);
  const fields = world.backend.requests.at(-1)?.headers ?? [];
  const [, sent = ''] = fields.find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const token = sent.replace('Bearer ', '');
  tracing.traceBy({});
  await call(token);
  await call(token);
  const [first, second] = await tracing.requests(2);
  expect(first?.links.map(({ traceId }) => traceId)).toEqual([signIn?.traceId]);
  expect(second?.links).toEqual([]);
});

test('the link of another user leads to no trace of that user', async () => {
  const browser = new BrowserJar();
  await walk(browser, `${world.users.originOf('web')}/`, { login: 'bob' });
  await walk(browser, world.linkFor('bob', world.files), { login: 'bob' });
  tracing.traceBy({});
  const page = await browser.open(world.linkFor('alice', world.files));
  expect(page.status).toBe(403);
  const [refused] = await tracing.requests(1);
  expect(refused?.parentSpanId).toBeUndefined();
});
