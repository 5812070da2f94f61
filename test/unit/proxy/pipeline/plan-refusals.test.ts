import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { expectJsonRpcError } from '../../../support/expect-json-rpc-error.ts';
import { membersOf, send, type Answer } from '../../../support/http-client.ts';
import { mcpHeaders } from '../../../support/signed-in-client.ts';
import type { RefreshOutcome } from '../../../support/upstream-oauth/scripted-tokens.ts';
import {
  ALICE,
  startTokenPipeline,
  type TokenPipeline,
} from '../../../support/upstream-oauth/token-pipeline.ts';
import { startUpstream, type Upstream } from '../../../support/upstream.ts';

const EXTERNAL = 'gte_external';
const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list' } };
const ELSEWHERE = 'https://as.example/.well-known/oauth-protected-resource';
const CHALLENGE = `Bearer error="invalid_token", resource_metadata="${ELSEWHERE}"`;
const STEP_UP = `Bearer error="insufficient_scope", scope="read write", resource_metadata="${ELSEWHERE}"`;
const SERVER = { subPaths: [{ path: '/files', inspected: false }] };
const NOT_CONNECTED = { status: 401, code: 40101, reason: 'not-connected' };

/** What the upstream does with a request. */
type Reaction = 'ok' | 401 | 403 | 'step-up' | 'basic' | 500 | 'hang' | 'reset';

const started = new AsyncDisposableStack();
let upstream: Upstream;
let pipeline: TokenPipeline;
/** Reactions to the requests to come; the last one repeats. */
let reactions: Reaction[];
/** What reached the upstream since the test began: `Authorization` and the body. */
let received: { readonly authorization: string | undefined; readonly body: string }[];

const react: RequestListener = (message, response) => {
  void buffer(message).then((body) => {
    received.push({ authorization: message.headers.authorization, body: body.toString() });
    const reaction = (reactions.length > 1 ? reactions.shift() : reactions[0]) ?? 'ok';
    if (reaction === 'hang') return;
    if (reaction === 'reset') {
      response.destroy();
      return;
    }
    const challenge = { 401: CHALLENGE, 'step-up': STEP_UP, basic: 'Basic' }[String(reaction)];
    const status = { ok: 200, 'step-up': 403, basic: 403 }[String(reaction)] ?? Number(reaction);
    response.setHeader('content-type', 'application/json');
    if (challenge !== undefined) response.setHeader('www-authenticate', challenge);
    response.writeHead(status).end(JSON.stringify({ jsonrpc: '2.0', id: 7, result: { status } }));
  });
};

beforeAll(async () => {
  upstream = started.use(await startUpstream(react));
  pipeline = started.use(await startTokenPipeline(upstream.origin, SERVER));
});

beforeEach(() => {
  begin();
});

afterAll(() => started.disposeAsync());

function begin({ tokens } = pipeline): void {
  reactions = ['ok'];
  received = [];
  pipeline.caller = ALICE;
  Object.assign(tokens, { refreshes: ['refreshed'], refreshed: 0, isCold: false });
  tokens.isAskedLately = false;
  tokens.asked.length = 0;
  tokens.connect();
}

function call(method = 'POST', path = '', { url } = pipeline): Promise<Answer> {
  return send(url + path, {
    method,
    headers: { ...mcpHeaders(EXTERNAL), 'x-note': 'of the client' },
    ...(method === 'POST' && { body: JSON.stringify(CALL) }),
  });
}

function expectChallenge(answer: Answer): void {
  expectJsonRpcError(answer, { ...NOT_CONNECTED, id: 7 });
  const metadata = `${pipeline.url}/.well-known/oauth-protected-resource`;
  expect(answer.headers['www-authenticate']).toBe(`Bearer resource_metadata="${metadata}"`);
}

describe('a request to an upstream with OAuth of its own', () => {
  test.each([
    ['POST', ''],
    ['GET', ''],
    ['PUT', '/files'],
  ])('%s %s has the internal token in place of the client’s', async (method, path) => {
    const token = pipeline.tokens.token?.accessToken ?? '';
    expect((await call(method, path)).status).toBe(200);
    expect(received.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`]);
  });

  test('has it too where the token is found later', async () => {
    pipeline.tokens.isCold = true;
    expect((await call()).status).toBe(200);
    expect(received).toHaveLength(1);
  });

  test.each([
    ['POST', ''],
    ['GET', ''],
    ['PUT', '/files'],
  ])('%s %s is challenged if the user is not connected', async (method, path) => {
    pipeline.tokens.disconnect();
    for (const isCold of [false, true]) {
      pipeline.tokens.isCold = isCold;
      const answer = await call(method, path);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).not.toContain('error=');
    }
    expect(received).toEqual([]);
  });

  test('is forbidden for callers without a browser, and says why', async () => {
    pipeline.caller = { ...ALICE, via: 'bearer-token' };
    expectJsonRpcError(await call(), {
      ...{ status: 403, code: 40301, id: 7, reason: 'connection-needs-sign-in' },
    });
    expect(received).toEqual([]);
  });

  test('is 503 while a token endpoint that is needed is away, and nothing is dropped', async () => {
    pipeline.tokens.refreshes = ['unavailable'];
    pipeline.tokens.expire();
    const answer = await call();
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(pipeline.tokens.token).toBeDefined();
    expect(received).toEqual([]);
  });
});

describe('an internal token that the upstream refuses', () => {
  test('is refreshed once, and the request is sent again with the same body', async () => {
    reactions = [401, 'ok'];
    const refused = pipeline.tokens.token?.accessToken ?? '';
    const answer = await call();
    expect(membersOf(answer)).toMatchObject({ result: { status: 200 } });
    const replaced = pipeline.tokens.token?.accessToken ?? '';
    expect(received).toEqual(
      [refused, replaced].map((token) => ({
        ...{ authorization: `Bearer ${token}`, body: JSON.stringify(CALL) },
      })),
    );
    expect(pipeline.tokens.refreshed).toBe(1);
  });

  test('is dropped if the upstream refuses its replacement too, and the client is challenged', async () => {
    reactions = [401];
    expectChallenge(await call());
    expect(pipeline.tokens.token).toBeUndefined();
    expect(received).toHaveLength(2);
    expect(pipeline.tokens.refreshed).toBe(1);
    expectChallenge(await call());
    expect(received).toHaveLength(2);
  });

  test('that cannot be refreshed ends in a challenge', async () => {
    reactions = [401];
    pipeline.tokens.refreshes = ['refused'];
    expectChallenge(await call());
    expect(received).toHaveLength(1);
  });

  test('is kept while its token endpoint is away', async () => {
    reactions = [401];
    pipeline.tokens.refreshes = ['unavailable'];
    const answer = await call();
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(pipeline.tokens.token).toBeDefined();
    expect(received).toHaveLength(1);
  });
});

describe('a request for which the internal token lacks scopes', () => {
  test('makes the client authorize again for all scopes, and then passes without its challenge', async () => {
    reactions = ['step-up'];
    expectChallenge(await call());
    expect(pipeline.tokens.asked).toEqual([['read', 'write']]);
    expect(pipeline.tokens.token).toBeDefined();

    const passed = await call();
    expect(membersOf(passed)).toMatchObject({ result: { status: 403 } });
    expect(passed.headers).not.toHaveProperty('www-authenticate');
    expect(pipeline.tokens.asked).toHaveLength(1);
  });

  test.each([403, 'basic'] as const)(
    'passes without a challenge otherwise: %s',
    async (reaction) => {
      reactions = [reaction];
      const answer = await call();
      expect(answer.status).toBe(403);
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      expect(pipeline.tokens.asked).toEqual([]);
    },
  );
});

/** A request is sent twice at most, and each time again once if its connection was lost before a response. */
const MOST_REQUESTS = 4;

/** Ahead of the request, and after the upstream refused the token. */
const MOST_REFRESHES = 2;

interface Scenario {
  readonly upstream: readonly Reaction[];
  readonly refreshes: readonly RefreshOutcome[];
  readonly state: 'fresh' | 'expired' | 'none';
  readonly isCold: boolean;
  readonly isAskedLately: boolean;
  readonly method: string;
}

test('one request ends after few requests to the upstream, whatever that answers, and shows it no token of ours', async () => {
  const reaction = fc.constantFrom<Reaction>(
    ...(['ok', 401, 401, 403, 'step-up', 'basic', 500, 'hang', 'reset'] as const),
  );
  const refresh = fc.constantFrom<RefreshOutcome>('refreshed', 'refused', 'unavailable');
  const scenario = fc.record<Scenario>({
    upstream: fc.array(reaction, { minLength: 1, maxLength: 6 }),
    refreshes: fc.array(refresh, { minLength: 1, maxLength: 3 }),
    state: fc.constantFrom('fresh', 'expired', 'none'),
    isCold: fc.boolean(),
    isAskedLately: fc.boolean(),
    method: fc.constantFrom('POST', 'GET', 'PUT'),
  });
  await using impatient = await startTokenPipeline(upstream.origin, {
    ...SERVER,
    responseTimeoutMs: 40,
  });
  const run = async ({ method, state, ...script }: Scenario): Promise<void> => {
    begin(impatient);
    const { tokens } = impatient;
    reactions = [...script.upstream];
    tokens.refreshes = [...script.refreshes];
    Object.assign(tokens, { isCold: script.isCold, isAskedLately: script.isAskedLately });
    if (state === 'expired') tokens.expire();
    if (state === 'none') tokens.disconnect();

    const answer = await call(method, method === 'PUT' ? '/files' : '', impatient);

    expect([200, 401, 403, 500, 502, 503, 504]).toContain(answer.status);
    expect(received.length).toBeLessThanOrEqual(MOST_REQUESTS);
    expect(tokens.refreshed).toBeLessThanOrEqual(MOST_REFRESHES);
    expect(JSON.stringify(received)).not.toContain(EXTERNAL);
    for (const { authorization } of received)
      expect(authorization).toMatch(/^Bearer internal-\d+$/);
    const shown = JSON.stringify(answer);
    expect(shown).not.toContain('as.example');
    expect(shown).not.toContain('internal-');
    const challenge = answer.headers['www-authenticate'];
    expect(challenge?.includes('error')).toBe(answer.status === 401 ? false : undefined);
  };
  await fc.assert(fc.asyncProperty(scenario, run), { numRuns: 300 });
});
