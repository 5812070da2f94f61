import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { InternalToken } from '../../../../../proxy/records/internal-token.ts';
import { MAX_USER_ENTRIES } from '../../../../../proxy/store/user-index.ts';
import { tokenNameOf } from '../../../../../proxy/upstream-oauth/internal-tokens/token-name.ts';
import type { CompiledRoute } from '../../../../../shared/snapshot/snapshot.ts';
import { aCompiledRoute } from '../../../../support/compiled-resources.ts';
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
const USER = ALICE.session.identity;
const ROUTE = aConnectableRoute();
const HOUR = 3_600_000;
const MANY = Array.from({ length: 1000 }, (_, index) => `scope-${String(index)}`);

let fixture: InternalTokensFixture;

beforeEach(() => {
  fixture = internalTokensFixture();
});

afterEach(() => {
  fixture[Symbol.dispose]();
});

async function tokenNow(route: CompiledRoute = ROUTE): Promise<InternalToken> {
  const token = await fixture.tokens.tokenFor(ALICE, route, CONTEXT);
  if (token === 'not-connected') throw new Error(token);
  return token;
}

function replacementOf(token: InternalToken) {
  return fixture.tokens.replacementOf(token, ALICE, ROUTE, CONTEXT);
}

async function stateNow(route: CompiledRoute = ROUTE): Promise<string | undefined> {
  return (await fixture.tokens.statesOf(USER, [route]))[0];
}

describe('A token that the upstream refuses', () => {
  let refused: InternalToken;

  beforeEach(async () => {
    await fixture.connect();
    refused = await tokenNow();
  });

  test('is replaced by one refresh for all requests that had it', async () => {
    const found = await Promise.all(Array.from({ length: 20 }, () => replacementOf(refused)));
    for (const token of found) expect(token).toMatchObject({ accessToken: 'access-2' });
    expect(fixture.requests).toHaveLength(1);
    expect(await replacementOf(refused)).toMatchObject({ accessToken: 'access-2' });
    expect(await tokenNow()).toMatchObject({ accessToken: 'access-2' });
    expect(fixture.requests).toHaveLength(1);
  });

  test('is dropped if there is no refresh token', async () => {
    await fixture.connect(ROUTE, 'alice', { accessToken: 'access-1', lifetimeSeconds: 60 });
    expect(await replacementOf(await tokenNow())).toBe('not-connected');
    expect(await stateNow()).toBe('not-connected');
    expect(fixture.requests).toEqual([]);
  });

  test('stays if the token endpoint is down', async () => {
    fixture.answer = () => jsonResponse({}, 503);
    await expect(replacementOf(refused)).rejects.toMatchObject({ status: 503 });
    expect(await stateNow()).toBe('connected');
  });

  test('is dropped when it was the replacement, and the user is not connected then', async () => {
    const replacement = await replacementOf(refused);
    if (replacement === 'not-connected') throw new Error(replacement);
    await fixture.tokens.drop(replacement, ALICE, ROUTE, CONTEXT);
    expect(await fixture.tokens.tokenFor(ALICE, ROUTE, CONTEXT)).toBe('not-connected');
    expect(await replacementOf(refused)).toBe('not-connected');
    expect(fixture.requests).toHaveLength(1);
  });

  test('drops no newer one', async () => {
    await fixture.connect(ROUTE, 'alice', { ...GIVEN, accessToken: 'access-of-now' });
    await fixture.tokens.drop(refused, ALICE, ROUTE, CONTEXT);
    expect(await tokenNow()).toMatchObject({ accessToken: 'access-of-now' });
  });
});

describe('Scopes that the upstream wants', () => {
  const requireScopes = (...scopes: readonly string[]) =>
    fixture.tokens.requireScopes(ALICE, ROUTE, scopes);

  test('are remembered with those of the token until the user connects', async () => {
    await fixture.connect();
    expect(await requireScopes('write', 'read')).toBe('asked');
    expect(await stateNow()).toBe('lacks-scopes');
    const { key } = await needKey();
    expect(await fixture.stores.connectionNeeds.get(key)).toMatchObject({
      scopes: ['read', 'write'],
    });
    expect(await tokenNow()).toMatchObject({ accessToken: 'access-1' });
    await fixture.connect(ROUTE, 'alice', { ...GIVEN, scopes: ['read', 'write'] });
    expect(await stateNow()).toBe('connected');
  });

  test('are asked for once an hour, also by another proxy', async () => {
    await fixture.connect();
    expect(await requireScopes('write')).toBe('asked');
    await fixture.connect();
    const another = fixture.another();
    expect(await another.requireScopes(ALICE, ROUTE, ['write'])).toBe('asked-lately');
    expect(await stateNow()).toBe('connected');
    fixture.time += HOUR;
    expect(await requireScopes('admin')).toBe('asked');
    expect(await another.requireScopes(aCaller('bob'), ROUTE, ['write'])).toBe('asked');
  });

  async function needKey() {
    const [connection] = await fixture.stores.connectionsOfUsers.list(USER);
    if (connection === undefined) throw new Error('there is no connection');
    return { key: { user: USER, ...connection } };
  }
});

describe('A connection', () => {
  test('has few scopes, however many the server names, also after a refresh', async () => {
    await fixture.connect(ROUTE, 'alice', { ...GIVEN, scopes: MANY });
    const token = await tokenNow();
    expect(token.scopes).toEqual(MANY.slice(0, 50));
    const refreshed = { access_token: 'access-2', token_type: 'Bearer', scope: MANY.join(' ') };
    fixture.answer = () => jsonResponse(refreshed);
    expect(await replacementOf(token)).toMatchObject({ scopes: MANY.slice(0, 50) });
  });

  test('belongs to one user and one route', async () => {
    const other = aConnectableRoute({ routeId: 'another-uid' });
    await fixture.connect();
    expect(await fixture.tokens.statesOf(USER, [ROUTE, other, aCompiledRoute()])).toEqual([
      'connected',
      'not-connected',
      'none-needed',
    ]);
    expect(await fixture.tokens.isConnected(aCaller('bob').session.identity, ROUTE)).toBe(false);
    expect(await fixture.tokens.tokenFor(aCaller('bob'), ROUTE, CONTEXT)).toBe('not-connected');
    expect(await fixture.tokens.tokenFor(ALICE, other, CONTEXT)).toBe('not-connected');
  });

  test('is one of a user of the same name only at the same provider', async () => {
    await fixture.connect();
    const elsewhere = { ...USER, issuer: 'https://other.example.com' };
    expect(await fixture.tokens.isConnected(elsewhere, ROUTE)).toBe(false);
    expect(await fixture.tokens.isConnected({ ...USER, provider: 'other' }, ROUTE)).toBe(false);
  });

  test.each<[string, CompiledRoute]>([
    ['the upstream', aConnectableRoute({}, { upstream: 'https://other.example.com' })],
    ['the client', aConnectableRoute({ client: { id: 'another' } })],
    ['the fallback issuer', aConnectableRoute({ fallbackIssuer: 'https://other.example.com' })],
    [
      'the endpoints',
      aConnectableRoute({
        client: { id: 'gatehouse' },
        endpoints: { authorizationUrl: 'https://x.com/a', tokenUrl: 'https://x.com/t' },
      }),
    ],
  ])('ends at once when %s changes', async (_what, changed) => {
    await fixture.connect();
    await tokenNow();
    expect(await fixture.tokens.tokenFor(ALICE, changed, CONTEXT)).toBe('not-connected');
    expect(await fixture.tokens.isConnected(USER, changed)).toBe(false);
  });

  test('stays when the client secret changes', async () => {
    const before = aConnectableRoute({ client: { id: 'gatehouse', secret: 'one' } });
    await fixture.connect(before);
    const after = aConnectableRoute({ client: { id: 'gatehouse', secret: 'two' } });
    expect(await tokenNow(after)).toMatchObject({ accessToken: 'access-1' });
  });

  test('is in the list of the user, and leaves it when it ends', async () => {
    await fixture.connect();
    const list = () => fixture.stores.connectionsOfUsers.list(USER);
    expect(await list()).toEqual([
      expect.objectContaining({ routeId: 'uid-of-the-route', routeName: 'team/files' }),
    ]);
    await fixture.tokens.disconnect(USER, ROUTE, CONTEXT);
    expect(await list()).toEqual([]);
  });

  test('beyond the bound of a user ends the oldest, on every proxy', async () => {
    const routes = Array.from({ length: MAX_USER_ENTRIES + 1 }, (_, index) =>
      aConnectableRoute({ routeId: `route ${String(index)}` }),
    );
    const [oldest, second, ...others] = routes;
    if (oldest === undefined || second === undefined) throw new Error('there are many routes');
    await fixture.connect(oldest);
    await tokenNow(oldest);
    for (const route of [second, ...others]) await fixture.connect(route);
    expect(await fixture.tokens.tokenFor(ALICE, oldest, CONTEXT)).toBe('not-connected');
    expect(await tokenNow(second)).toMatchObject({ accessToken: 'access-1' });
  });

  test('replaces the one before, on every proxy', async () => {
    const another = fixture.another();
    await fixture.connect();
    await another.tokenFor(ALICE, ROUTE, CONTEXT);
    await fixture.connect(ROUTE, 'alice', { ...GIVEN, accessToken: 'access-of-now' });
    expect(await another.tokenFor(ALICE, ROUTE, CONTEXT)).toMatchObject({
      accessToken: 'access-of-now',
    });
  });

  test('that has expired counts as long as it can be refreshed', async () => {
    await fixture.connect();
    fixture.time += HOUR;
    expect(await stateNow()).toBe('connected');
    await fixture.connect(ROUTE, 'alice', { accessToken: 'access-1', lifetimeSeconds: 60 });
    fixture.time += HOUR;
    expect(await stateNow()).toBe('not-connected');
    expect(fixture.requests).toEqual([]);
  });
});

describe('Disconnecting', () => {
  test('drops the token on every proxy, and has it revoked', async () => {
    const another = fixture.another();
    await fixture.connect();
    await another.tokenFor(ALICE, ROUTE, CONTEXT);
    fixture.answer = () => new Response(null, { status: 200 });
    await fixture.tokens.disconnect(USER, ROUTE, CONTEXT);
    expect(await another.tokenFor(ALICE, ROUTE, CONTEXT)).toBe('not-connected');
    expect(fixture.requests.map(({ url, form }) => [url, form['token']])).toEqual([
      ['https://as.example.com/revoke', 'refresh-1'],
      ['https://as.example.com/revoke', 'access-1'],
    ]);
  });

  test.each([
    ['fails', () => jsonResponse({}, 500)],
    ['cannot be reached', () => Promise.reject(new Error('down'))],
  ])('works if the server %s', async (_case, answer) => {
    await fixture.connect();
    fixture.answer = answer;
    await fixture.tokens.disconnect(USER, ROUTE, CONTEXT);
    expect(await stateNow()).toBe('not-connected');
  });

  test('ends the demand for more scopes too', async () => {
    await fixture.connect();
    await fixture.tokens.requireScopes(ALICE, ROUTE, ['write']);
    await fixture.tokens.disconnect(USER, ROUTE, CONTEXT);
    // Or the next connection would ask for them.
    const { key } = tokenNameOf(USER, ROUTE);
    expect(await fixture.stores.connectionNeeds.get(key)).toBeNull();
  });

  test('does nothing to a user who is not connected', async () => {
    await fixture.tokens.disconnect(USER, ROUTE, CONTEXT);
    expect(fixture.requests).toEqual([]);
    expect(fixture.logger.records).toEqual([]);
  });
});
