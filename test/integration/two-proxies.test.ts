import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { eventually } from '../support/eventually.ts';
import { expectCleanOutput } from '../support/expect-clean-output.ts';
import { startFleet, type EchoAnswer, type GatewayFleet } from '../support/gateway-fleet.ts';
import { membersOf, send, type Answer } from '../support/http-client.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import {
  authorize,
  callMcp,
  discover,
  redeem,
  register,
  signInClient,
} from '../support/signed-in-client.ts';
import { expectInvalidGrant, refresh, revoke, tokensOf } from '../support/token-requests.ts';
import { BALANCER_SEED } from '../support/balancer-seed.ts';

const FIRST = 0;
const SECOND = 1;
const BOTH = [FIRST, SECOND];

/** Longer than the grace of a refresh token, and than the window of the limit on registrations. */
const PAST_WINDOWS_SECONDS = 61;

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };

const started = new AsyncDisposableStack();
let redis: TestRedis;
let fleet: GatewayFleet;

function call(accessToken: string): Promise<Answer> {
  return callMcp(fleet.mcpUrl, accessToken, PING);
}

async function statusAt(proxy: number, accessToken: string): Promise<number> {
  fleet.balancer.only(proxy);
  return (await call(accessToken)).status;
}

async function expectGoodAtBoth(accessToken: string): Promise<void> {
  for (const proxy of BOTH) expect(await statusAt(proxy, accessToken)).toBe(200);
}

async function expectRefusedAtBoth(accessToken: string): Promise<void> {
  for (const proxy of BOTH) {
    const isRefused = async (): Promise<boolean> => (await statusAt(proxy, accessToken)) === 401;
    await eventually(`refused at ${String(proxy)}`, isRefused);
  }
}

async function signInBrowser(url: string, login = 'alice'): Promise<BrowserJar> {
  const browser = new BrowserJar();
  const page = await browser.submit(await browser.open(url), { login });
  expect(page).toMatchObject({ status: 200, url: new URL(url).href });
  // A user who is not signed in has to fill in the form again.
  browser.deleteCookies(({ host }) => host === '127.0.0.1');
  return browser;
}

function isSignIn(page: BrowserPage): boolean {
  return page.url.startsWith(fleet.identityProvider.issuer);
}

describeWithRedis(`Two proxies that share a Redis (BALANCER_SEED=${String(BALANCER_SEED)})`, () => {
  beforeAll(async () => {
    redis = started.use(await startRedis());
    fleet = started.use(
      await startFleet({ redisUrls: [redis.url, redis.url], seed: BALANCER_SEED }),
    );
  });

  afterAll(() => started.disposeAsync());

  beforeEach(() => {
    redis.advance(PAST_WINDOWS_SECONDS);
    fleet.balancer.spread();
  });

  test('two proxies sign a client in together, whichever of them receives which request', async () => {
    const before = [...fleet.balancer.taken];
    const logins = await Promise.all(
      ['alice', 'bob', 'carol', 'alice'].map((login) => signInClient(fleet.mcpUrl, { login })),
    );

    for (const client of logins) {
      await expectGoodAtBoth(client.accessToken);
      fleet.balancer.spread();
      const { accessToken } = tokensOf(await refresh(client, client.refreshToken));
      await expectGoodAtBoth(accessToken);
    }
    for (const proxy of BOTH) {
      expect(fleet.balancer.taken[proxy]).toBeGreaterThan((before[proxy] ?? 0) + 8);
    }
  });

  test('each proxy redeems codes and refreshes tokens of the other', async () => {
    fleet.balancer.only(FIRST);
    const server = await discover(fleet.mcpUrl);
    const clientId = await register(server);
    const code = (await authorize(server, clientId)).searchParams.get('code') ?? '';
    fleet.balancer.only(SECOND);
    let tokens = tokensOf(await redeem(server, clientId, code));

    for (const proxy of [FIRST, SECOND, FIRST]) {
      fleet.balancer.only(proxy);
      tokens = tokensOf(await refresh({ server, clientId }, tokens.refreshToken));
      await expectGoodAtBoth(tokens.accessToken);
    }
  });

  test('each proxy continues a sign-in of the other at every redirect', async () => {
    fleet.balancer.alternate();
    const browser = await signInBrowser(`${fleet.webUrl}/report?of=2026`);
    fleet.balancer.only(FIRST);
    const first = await browser.open(fleet.webUrl);
    fleet.balancer.only(SECOND);
    const second = await browser.open(fleet.webUrl);

    expect([first.status, second.status]).toEqual([200, 200]);
    expect([first, second].map(isSignIn)).toEqual([false, false]);
  });

  test('both proxies agree on one successor for fifty refreshes at once', async () => {
    const client = await signInClient(fleet.mcpUrl);
    fleet.balancer.alternate();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refresh(client, client.refreshToken)),
    );
    const tokens = answers.map(tokensOf);
    const [successor = '', ...others] = new Set(tokens.map(({ refreshToken }) => refreshToken));

    expect(others).toEqual([]);
    expect(successor).not.toBe(client.refreshToken);
    for (const { accessToken } of tokens.slice(0, 4)) await expectGoodAtBoth(accessToken);
    tokensOf(await refresh(client, successor));
  });

  test('both proxies end the family of a refresh token that is replayed after its grace', async () => {
    const client = await signInClient(fleet.mcpUrl);
    fleet.balancer.only(FIRST);
    const next = tokensOf(await refresh(client, client.refreshToken));
    await expectGoodAtBoth(next.accessToken);
    redis.advance(PAST_WINDOWS_SECONDS);
    fleet.balancer.only(SECOND);
    expectInvalidGrant(await refresh(client, client.refreshToken));

    for (const { accessToken } of [client, next]) await expectRefusedAtBoth(accessToken);
    fleet.balancer.only(FIRST);
    expectInvalidGrant(await refresh(client, next.refreshToken));
  });

  test('a code that both proxies receive at the same time is redeemed once, and its tokens are revoked', async () => {
    const server = await discover(fleet.mcpUrl);
    const clientId = await register(server);
    const browser = new BrowserJar();
    for (let round = 0; round < 5; round += 1) {
      fleet.balancer.spread();
      const redirect = await authorize(server, clientId, { browser });
      const code = redirect.searchParams.get('code') ?? '';
      fleet.balancer.alternate();
      const answers = await Promise.all([1, 2, 3, 4].map(() => redeem(server, clientId, code)));
      const given = answers.filter(({ status }) => status === 200).map(tokensOf);

      expect(given.length).toBeLessThanOrEqual(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expectInvalidGrant(answer);
      }
      for (const { accessToken, refreshToken } of given) {
        await expectRefusedAtBoth(accessToken);
        expectInvalidGrant(await refresh({ server, clientId }, refreshToken));
      }
    }
  });

  test('both proxies refuse every token of a refresh token that was revoked at one', async () => {
    const client = await signInClient(fleet.mcpUrl);
    const next = tokensOf(await refresh(client, client.refreshToken));
    for (const { accessToken } of [client, next]) await expectGoodAtBoth(accessToken);
    fleet.balancer.only(FIRST);
    expect((await revoke(client, next.refreshToken)).status).toBe(200);

    for (const { accessToken } of [client, next]) await expectRefusedAtBoth(accessToken);
    for (const { refreshToken } of [client, next]) {
      expectInvalidGrant(await refresh(client, refreshToken));
    }
  });

  test('both proxies refuse an access token that was revoked at one, and only that token', async () => {
    const client = await signInClient(fleet.mcpUrl);
    const next = tokensOf(await refresh(client, client.refreshToken));
    for (const { accessToken } of [client, next]) await expectGoodAtBoth(accessToken);
    fleet.balancer.only(FIRST);
    expect((await revoke(client, client.accessToken)).status).toBe(200);

    await expectRefusedAtBoth(client.accessToken);
    await expectGoodAtBoth(next.accessToken);
    tokensOf(await refresh(client, next.refreshToken));
  });

  test('both proxies end a browser session that was signed out of at one', async () => {
    const browser = await signInBrowser(fleet.webUrl);
    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      expect(isSignIn(await browser.open(fleet.webUrl))).toBe(false);
    }
    fleet.balancer.only(FIRST);
    const cookies = browser.clone();
    const question = await browser.open(`${fleet.webUrl}/.gateway/sign_out`);
    expect((await browser.submit(question)).body).toContain('Signed out');

    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      const asksToSignIn = async (): Promise<boolean> =>
        isSignIn(await cookies.clone().open(fleet.webUrl));
      await eventually(`signed out at ${String(proxy)}`, asksToSignIn);
    }
  });

  test('both proxies count registrations together', async () => {
    const { registrationEndpoint } = await discover(fleet.mcpUrl);
    const from = '127.0.1.1';
    const body = JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/callback'] });
    const headers = { 'content-type': 'application/json' };
    const statuses: number[] = [];
    fleet.balancer.alternate();
    for (let count = 0; count < 22; count += 1) {
      const options = { method: 'POST', headers, body, from };
      statuses.push((await send(registrationEndpoint, options)).status);
    }

    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 429, 429]);
    const somebodyElse = { method: 'POST', headers, body, from: '127.0.1.2' };
    expect((await send(registrationEndpoint, somebodyElse)).status).toBe(201);
  });

  test('each proxy publishes the keys that verify the assertions of the other', async () => {
    const { accessToken } = await signInClient(fleet.mcpUrl, { login: 'carol' });
    for (const [signer, verifier] of [BOTH, BOTH.toReversed()]) {
      fleet.balancer.only(signer ?? FIRST);
      // The server of the route answers in this form.
      const { result } = membersOf(await call(accessToken)) as unknown as EchoAnswer;
      fleet.balancer.only(verifier ?? SECOND);
      const keys = membersOf(await send(`${fleet.publicUrl}/.gateway/jwks.json`));
      // The endpoint answers with a key set (RFC 7517, section 5).
      const keySet = createLocalJWKSet(keys as unknown as JSONWebKeySet);
      const { payload } = await jwtVerify(result.assertion ?? '', keySet);

      expect(payload).toMatchObject({ sub: 'carol', email: 'carol@example.com' });
    }
  });

  test('the processes log no secret, warning or crash', () => {
    expectCleanOutput(fleet);
  });
});
