import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { StoreUnavailableError } from '../../../../../proxy/store/store-unavailable-error.ts';
import type { InternalTokens } from '../../../../../proxy/upstream-oauth/internal-tokens/internal-tokens.ts';
import { eventually } from '../../../../support/eventually.ts';
import { failingStores, type FailingStores } from '../../../../support/failing-stores.ts';
import { jsonResponse } from '../../../../support/upstream-oauth/answering-server.ts';
import {
  aCaller,
  aConnectableRoute,
  CONTEXT,
  GIVEN,
  type InternalTokensFixture,
  internalTokensFixture,
} from '../../../../support/upstream-oauth/internal-tokens-fixture.ts';

const ALICE = aCaller();
const ROUTE = aConnectableRoute();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let fixture: InternalTokensFixture;

beforeEach(() => {
  fixture = internalTokensFixture();
});

afterEach(() => {
  fixture[Symbol.dispose]();
});

function tokenFor(tokens: InternalTokens = fixture.tokens) {
  return tokens.tokenFor(ALICE, ROUTE, CONTEXT);
}

async function accessToken(tokens?: InternalTokens): Promise<string> {
  const token = await tokenFor(tokens);
  return token === 'not-connected' ? token : token.accessToken;
}

/** Waits until nobody refreshes. */
function untilRefreshed(): Promise<number> {
  return eventually('the token is new', async () => (await accessToken()) === 'access-2');
}

describe('A token that is known', () => {
  test('is returned without a promise and without a request', async () => {
    await fixture.connect();
    const token = await tokenFor();
    expect(token).toMatchObject({ accessToken: 'access-1' });
    expect(tokenFor()).toBe(token);
    expect(fixture.requests).toEqual([]);
  });

  test('is used and refreshed once beside requests, two minutes before it expires', async () => {
    await fixture.connect();
    fixture.time += HOUR - 2 * MINUTE - 1;
    await tokenFor();
    fixture.time += 1;
    for (let request = 0; request < 50; request += 1) {
      expect(tokenFor()).toMatchObject({ accessToken: 'access-1' });
    }
    await untilRefreshed();
    expect(fixture.requests).toHaveLength(1);
    expect(fixture.requests[0]?.form).toMatchObject({
      refresh_token: 'refresh-1',
      resource: 'https://upstream.example.com/mcp',
    });
  });

  test('is refreshed in the last tenth of a short life', async () => {
    await fixture.connect(ROUTE, 'alice', { ...GIVEN, lifetimeSeconds: 10 });
    fixture.time += 8999;
    expect(await accessToken()).toBe('access-1');
    fixture.time += 1;
    expect(await accessToken()).toBe('access-1');
    await untilRefreshed();
    expect(fixture.requests).toHaveLength(1);
  });

  test('is used although it cannot be refreshed yet, and the server is not asked by each request', async () => {
    await fixture.connect();
    fixture.answer = () => jsonResponse({}, 500);
    fixture.time += HOUR - MINUTE;
    for (let request = 0; request < 50; request += 1) {
      expect(await accessToken()).toBe('access-1');
    }
    expect(fixture.requests).toHaveLength(1);
    expect(fixture.logger.messages('warn')).toEqual(['internal token not refreshed ahead']);
  });

  test('without a life or a refresh token is used until the upstream refuses it', async () => {
    await fixture.connect(ROUTE, 'alice', { accessToken: 'access-1' });
    fixture.time += 80 * 24 * HOUR;
    expect(await accessToken()).toBe('access-1');
    expect(fixture.requests).toEqual([]);
  });
});

describe('A token that has expired', () => {
  beforeEach(async () => {
    await fixture.connect();
    fixture.time += HOUR;
  });

  test('is refreshed once for fifty requests that wait', async () => {
    const found = await Promise.all(Array.from({ length: 50 }, () => accessToken()));
    expect(new Set(found)).toEqual(new Set(['access-2']));
    expect(fixture.requests).toHaveLength(1);
  });

  test('is refreshed once for the requests of two proxies', async () => {
    const another = fixture.another();
    const requests = Array.from({ length: 50 }, (_, index) =>
      accessToken(index % 2 === 0 ? fixture.tokens : another),
    );
    expect(new Set(await Promise.all(requests))).toEqual(new Set(['access-2']));
    expect(fixture.requests).toHaveLength(1);
  });

  test('keeps its refresh token if the server gives none', async () => {
    fixture.answer = ({ form }) =>
      jsonResponse({
        access_token: `after ${form['refresh_token'] ?? ''}`.replace(' ', '-'),
        token_type: 'bearer',
        expires_in: 60,
      });
    expect(await accessToken()).toBe('after-refresh-1');
    fixture.time += HOUR;
    expect(await accessToken()).toBe('after-refresh-1');
    expect(fixture.requests).toHaveLength(2);
  });

  test('is refreshed for its resource, unless the route says otherwise', async () => {
    const silent = aConnectableRoute({ sendsResource: false });
    await fixture.tokens.tokenFor(ALICE, silent, CONTEXT);
    fixture.time += 2 * HOUR;
    await tokenFor();
    expect(fixture.requests.map(({ form }) => 'resource' in form)).toEqual([false, true]);
  });

  test('is dropped if the server refuses the refresh token', async () => {
    fixture.answer = () => jsonResponse({ error: 'invalid_grant' }, 400);
    expect(await accessToken()).toBe('not-connected');
    expect(await accessToken()).toBe('not-connected');
    expect(fixture.requests).toHaveLength(1);
    expect(fixture.logger.records).toContainEqual({
      level: 'info',
      message: 'connection ended',
      fields: expect.objectContaining({ user: 'alice', reason: 'invalid-grant' }),
    });
  });

  test('stays if the user has connected again while the server refused it', async () => {
    fixture.answer = async () => {
      await fixture.connect(ROUTE, 'alice', { ...GIVEN, accessToken: 'access-of-now' });
      return jsonResponse({ error: 'invalid_grant' }, 400);
    };
    expect(await accessToken()).toBe('access-of-now');
    expect(await accessToken()).toBe('access-of-now');
  });

  test('does not replace that of a new connection', async () => {
    fixture.answer = async () => {
      await fixture.connect(ROUTE, 'alice', { ...GIVEN, accessToken: 'access-of-now' });
      return jsonResponse({ access_token: 'access-of-before', token_type: 'bearer' });
    };
    expect(await accessToken()).toBe('access-of-now');
    expect(await accessToken()).toBe('access-of-now');
  });

  test('does not come back after the user has disconnected, and is revoked', async () => {
    fixture.answer = async ({ url }) => {
      if (url.endsWith('/revoke')) return new Response(null, { status: 200 });
      await fixture.tokens.disconnect(ALICE.session.identity, ROUTE, CONTEXT);
      return jsonResponse({ access_token: 'access-2', token_type: 'bearer' });
    };
    expect(await accessToken()).toBe('not-connected');
    expect(await accessToken()).toBe('not-connected');
    const revoked = fixture.requests.filter(({ url }) => url.endsWith('/revoke'));
    expect(revoked.map(({ form }) => form['token'])).toContain('access-2');
  });

  test.each([
    ['fails', () => jsonResponse({}, 500)],
    ['answers with a page', () => new Response('<h1>Welcome</h1>')],
    ['does not know the request', () => jsonResponse({ error: 'unsupported_grant_type' }, 400)],
    ['gives a token of another type', () => jsonResponse({ access_token: 'a', token_type: 'mac' })],
  ])('is unavailable and stays if the server %s', async (_case, answer) => {
    const right = fixture.answer;
    fixture.answer = answer;
    const failure = {
      reason: 'upstream-authorization-unavailable',
      status: 503,
      retryAfterSeconds: 2,
    };
    await expect(tokenFor()).rejects.toMatchObject(failure);
    await expect(tokenFor()).rejects.toMatchObject(failure);
    expect(fixture.requests).toHaveLength(1);
    fixture.answer = right;
    fixture.time += 2000;
    expect(await accessToken()).toBe('access-2');
  });

  test('is dropped with the registration that the server forgot', async () => {
    fixture.answer = () => jsonResponse({ error: 'invalid_client' }, 401);
    expect(await accessToken()).toBe('not-connected');
    expect(fixture.forgotten).toEqual([
      'gatehouse at https://as.example.com for https://files.example.com/.gateway/mcp/client/oauth/callback',
    ]);
  });

  test.each(['given', 'metadata-document'] as const)(
    'stays if the server refuses a client that is %s: no new connection could change that',
    async (source) => {
      fixture.client = { id: 'gatehouse', authMethod: 'none', source };
      fixture.answer = () => jsonResponse({ error: 'invalid_client' }, 401);
      await expect(tokenFor()).rejects.toMatchObject({ status: 503 });
      expect(fixture.forgotten).toEqual([]);
      expect(await fixture.tokens.isConnected(ALICE.session.identity, ROUTE)).toBe(true);
    },
  );

  test('is not refreshed by a proxy that has lost its turn: the server could take it for a thief', async () => {
    jest.spyOn(fixture.stores.internalTokens, 'extendRenewal').mockResolvedValueOnce(false);
    await expect(tokenFor()).rejects.toMatchObject({ status: 503 });
    expect(fixture.requests).toEqual([]);
    fixture.time += 2000;
    expect(await accessToken()).toBe('access-2');
  });

  test('is dropped without a request if the gateway is another client now', async () => {
    fixture.client = null;
    expect(await accessToken()).toBe('not-connected');
    expect(fixture.requests).toEqual([]);
  });
});

test('A token that has expired without a refresh token is none', async () => {
  await fixture.connect(ROUTE, 'alice', { accessToken: 'access-1', lifetimeSeconds: 60 });
  expect(await accessToken()).toBe('access-1');
  fixture.time += MINUTE;
  expect(await accessToken()).toBe('not-connected');
  expect(fixture.requests).toEqual([]);
});

test('A new refresh token is kept although the stores are away when it comes', async () => {
  const failing: { stores?: FailingStores } = {};
  using away = internalTokensFixture((stores) => {
    failing.stores = failingStores(stores);
    return failing.stores.stores;
  });
  await away.connect();
  away.time += HOUR;
  const right = away.answer;
  away.answer = (request) => {
    failing.stores?.setAway(true);
    setTimeout(() => failing.stores?.setAway(false), 400);
    return right(request);
  };
  expect(await away.tokens.tokenFor(ALICE, ROUTE, CONTEXT)).toMatchObject({
    accessToken: 'access-2',
  });
  away.answer = right;
  away.time += HOUR;
  await away.tokens.tokenFor(ALICE, ROUTE, CONTEXT);
  expect(away.requests.map(({ form }) => form['refresh_token'])).toEqual([
    'refresh-1',
    'refresh-2',
  ]);
});

test('Without the stores, a token that is known is used, and no other', async () => {
  const failing: { stores?: FailingStores } = {};
  using away = internalTokensFixture((stores) => {
    failing.stores = failingStores(stores);
    return failing.stores.stores;
  });
  await away.connect();
  await away.tokens.tokenFor(ALICE, ROUTE, CONTEXT);
  failing.stores?.setAway(true);
  away.time += MINUTE;
  expect(await away.tokens.tokenFor(ALICE, ROUTE, CONTEXT)).toMatchObject({
    accessToken: 'access-1',
  });
  await expect(away.tokens.tokenFor(aCaller('bob'), ROUTE, CONTEXT)).rejects.toThrow(
    StoreUnavailableError,
  );
});
