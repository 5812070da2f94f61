import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

import { rawHeaderValues } from '../../../../proxy/mcp/raw-header.ts';
import { OutboundFailedError } from '../../../../proxy/outbound/outbound-errors.ts';
import { send, type Answer } from '../../../support/http-client.ts';
import { mcpHeaders } from '../../../support/signed-in-client.ts';
import {
  jsonResponse,
  type SentRequest,
} from '../../../support/upstream-oauth/answering-server.ts';
import {
  aCaller,
  internalTokensFixture,
  type InternalTokensFixture,
} from '../../../support/upstream-oauth/internal-tokens-fixture.ts';
import {
  startTokenPipeline,
  type TokenPipeline,
} from '../../../support/upstream-oauth/token-pipeline.ts';
import { startUpstream } from '../../../support/upstream.ts';

const EXTERNAL = 'gte_external';
const USERS = ['alice', 'bob'] as const;
const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list' } };
const STEP_UP = 'Bearer error="insufficient_scope", scope="write"';

type User = (typeof USERS)[number];

/** What the upstream does with a request. */
const REACTIONS = ['ok', 'ok', 401, 401, 'step-up', 500, 'hang', 'reset'] as const;
/** What the authorization server does with one. */
const RESPONSES = ['tokens', 'tokens', 'keeps-refresh-token', 'refused', 'fails', 'page'] as const;
const OUTAGES = ['hangs', 'unusable', 'forgets'] as const;
/** How a user begins. */
const STATES = ['fresh', 'ending', 'expired', 'without-refresh-token', 'none'] as const;

interface Scenario {
  readonly states: Readonly<Record<User, (typeof STATES)[number]>>;
  readonly requests: readonly { readonly user: User; readonly proxy: number }[];
  readonly upstream: readonly (typeof REACTIONS)[number][];
  readonly server: readonly (typeof RESPONSES | typeof OUTAGES)[number][];
}

const SCENARIO = fc.record<Scenario>({
  states: fc.record({ alice: fc.constantFrom(...STATES), bob: fc.constantFrom(...STATES) }),
  requests: fc.array(fc.record({ user: fc.constantFrom(...USERS), proxy: fc.nat({ max: 1 }) }), {
    minLength: 1,
    maxLength: 6,
  }),
  upstream: fc.array(fc.constantFrom(...REACTIONS), { minLength: 1, maxLength: 12 }),
  server: fc.array(fc.constantFrom(...RESPONSES, ...OUTAGES), { minLength: 1, maxLength: 4 }),
});

/** A request is sent twice at most, and each time again once if its connection was lost before a response. */
const MOST_REQUESTS = 4;
/** Ahead of the request, and after the upstream refused the token. */
const MOST_REFRESHES = 2;

const RESPONSE_MS = 5;
const AGE_MS = 2000;
const LIFETIMES = { fresh: 3600, ending: 2.1, expired: 1, 'without-refresh-token': 3600 } as const;

let reactions: Scenario['upstream'][number][];
let received: IncomingHttpHeaders[];

const react: RequestListener = (message, response) => {
  void buffer(message).then(() => {
    received.push(message.headers);
    const reaction = (reactions.length > 1 ? reactions.shift() : reactions[0]) ?? 'ok';
    if (reaction === 'hang') return;
    if (reaction === 'reset') {
      response.destroy();
      return;
    }
    if (reaction === 'step-up') response.setHeader('www-authenticate', STEP_UP);
    response.setHeader('content-type', 'application/json');
    response.writeHead({ ok: 200, 'step-up': 403 }[String(reaction)] ?? Number(reaction));
    response.end('{"jsonrpc":"2.0","id":7,"result":{}}');
  });
};

/** An authorization server whose tokens show their users, and that takes each refresh token once. */
class RotatingServer {
  readonly #responses: Scenario['server'][number][];
  readonly #used = new Set<string>();
  #issued = 0;
  /** Refresh tokens that came although a response had replaced them. */
  readonly replayed: string[] = [];

  constructor(responses: Scenario['server']) {
    this.#responses = [...responses];
  }

  async answer({ url, form }: SentRequest): Promise<Response> {
    if (url.endsWith('/revoke')) return new Response(null, { status: 200 });
    // So that other requests come meanwhile.
    await wait(RESPONSE_MS);
    const { refresh_token: refreshToken = '' } = form;
    if (this.#used.has(refreshToken)) this.replayed.push(refreshToken);
    const next = this.#responses.length > 1 ? this.#responses.shift() : this.#responses[0];
    switch (next) {
      case 'tokens':
        this.#used.add(refreshToken);
        return this.#tokens(refreshToken, true);
      case 'keeps-refresh-token':
        return this.#tokens(refreshToken, false);
      case 'refused':
        return jsonResponse({ error: 'invalid_grant' }, 400);
      case 'forgets':
        return jsonResponse({ error: 'invalid_client' }, 401);
      case 'unusable':
        return jsonResponse({ access_token: 'a\r\nX-Admin: 1', token_type: 'Bearer' });
      case 'page':
        return new Response('<h1>Welcome</h1>');
      case 'hangs':
        throw new OutboundFailedError('timeout', 'took too long');
      case 'fails':
      case undefined:
        return jsonResponse({}, 500);
    }
  }

  #tokens(refreshToken: string, rotates: boolean): Response {
    this.#issued += 1;
    const name = `${userIn(refreshToken)}-${String(this.#issued)}`;
    return jsonResponse({
      access_token: `internal-${name}`,
      ...(rotates && { refresh_token: `refresh-${name}` }),
      ...{ token_type: 'Bearer', expires_in: 3600 },
    });
  }
}

function userIn(token: string): string {
  return token.split('-')[1] ?? '';
}

async function begin(
  fixture: InternalTokensFixture,
  { route }: TokenPipeline,
  states: Scenario['states'],
): Promise<void> {
  for (const user of USERS) {
    const state = states[user];
    if (state === 'none') continue;
    await fixture.connect(route, user, {
      accessToken: `internal-${user}-0`,
      ...(state !== 'without-refresh-token' && { refreshToken: `refresh-${user}-0` }),
      lifetimeSeconds: LIFETIMES[state],
    });
  }
  fixture.time += AGE_MS;
}

function call({ url }: TokenPipeline, user: User, index: number): Promise<Answer> {
  const headers = { ...mcpHeaders(EXTERNAL), 'x-user': user, 'x-index': String(index) };
  return send(url, { method: 'POST', headers, body: JSON.stringify(CALL) });
}

test('requests of two users at two proxies end, each with tokens of its user only, whatever both servers answer', async () => {
  await using upstream = await startUpstream(react);
  const limits = { responseTimeoutMs: 40 };
  await using first = await startTokenPipeline(upstream.origin, limits);
  await using second = await startTokenPipeline(upstream.origin, limits);
  const proxies = [first, second];
  for (const proxy of proxies) {
    proxy.caller = ({ message }) => aCaller(rawHeaderValues(message.rawHeaders, 'x-user')[0]);
  }

  const run = async (scenario: Scenario): Promise<void> => {
    using fixture = internalTokensFixture();
    const server = new RotatingServer(scenario.server);
    fixture.answer = (request) => server.answer(request);
    await begin(fixture, first, scenario.states);
    [first.internalTokens, second.internalTokens] = [fixture.tokens, fixture.another()];
    reactions = [...scenario.upstream];
    received = [];

    const answers = await Promise.all(
      scenario.requests.map(({ user, proxy }, index) => call(proxies[proxy] ?? first, user, index)),
    );

    for (const [index, answer] of answers.entries()) {
      expect([200, 401, 403, 500, 502, 503, 504]).toContain(answer.status);
      const sent = received.filter((headers) => headers['x-index'] === String(index));
      expect(sent.length).toBeLessThanOrEqual(MOST_REQUESTS);
      expect(JSON.stringify(answer)).not.toMatch(/internal-|refresh-|insufficient_scope/);
    }
    for (const headers of received) {
      expect(headers.authorization).toMatch(/^Bearer internal-[a-z]+-\d+$/);
      expect(userIn(headers.authorization ?? '')).toBe(headers['x-user']);
    }
    expect(server.replayed).toEqual([]);
    expect(fixture.requests.length).toBeLessThanOrEqual(MOST_REFRESHES * answers.length);
    expect(JSON.stringify([received, fixture.requests])).not.toContain(EXTERNAL);
    expect(JSON.stringify(fixture.logger.records)).not.toMatch(/internal-[ab]|refresh-[ab]/);
  };
  await fc.assert(fc.asyncProperty(SCENARIO, run), { numRuns: 100 });
});
