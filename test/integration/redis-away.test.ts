import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { eventually } from '../support/eventually.ts';
import { expectCleanOutput } from '../support/expect-clean-output.ts';
import { startFleet, type GatewayFleet } from '../support/gateway-fleet.ts';
import { membersOf, send, type Answer } from '../support/http-client.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import {
  authorize,
  callMcp,
  discover,
  redeem,
  signInClient,
  type SignedInClient,
} from '../support/signed-in-client.ts';
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts';
import { refresh, revoke, tokensOf } from '../support/token-requests.ts';

const FIRST = 0;
const SECOND = 1;
const BOTH = [FIRST, SECOND];

/** How long a check of a token counts without asking Redis, and some more. */
const CHECKED_MS = 6000;

/** How long a refusal may take while Redis does not answer. */
const FAILED_MS = 8000;

/** Not the address of the clients: they have a limit of their own. */
const PROBE = '127.0.2.1';

/** Shorter than a check of a token counts. */
const HEARD_OF_MS = 4000;

const PAUSE_MS = 20;
const PING = { jsonrpc: '2.0', id: 5, method: 'ping' };
const REGISTRATION = JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/callback'] });

type Fleet = Pick<GatewayFleet, 'balancer' | 'mcpUrl' | 'webUrl' | 'publicUrl' | 'members'>;

function call(
  { mcpUrl }: Fleet,
  { accessToken }: { readonly accessToken: string },
): Promise<Answer> {
  return callMcp(mcpUrl, accessToken, PING);
}

/** A registration needs Redis, and uses nothing up. */
function register({ mcpUrl }: Fleet): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: REGISTRATION, from: PROBE };
  return send(`${mcpUrl}/.gateway/mcp/register`, options);
}

/** Waits until what needs Redis works at every process again. */
async function healed(fleet: Fleet): Promise<void> {
  let passed = 0;
  for (const proxy of fleet.members.keys()) {
    fleet.balancer.only(proxy);
    const works = async (): Promise<boolean> => (await register(fleet)).status !== 503;
    passed += await eventually(`proxy ${String(proxy)} has found Redis again`, works);
  }
  fleet.balancer.spread();
  console.info(`all found Redis again after ${String(passed)} ms`);
}

function expectUnavailable(answer: Pick<Answer, 'status' | 'headers' | 'body'>): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 503 });
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
}

function expectOAuthUnavailable(answer: Answer): void {
  expectUnavailable(answer);
  expect(membersOf(answer)).toMatchObject({ error: 'temporarily_unavailable' });
}

function expectUnavailablePage(page: BrowserPage): void {
  expectUnavailable(page);
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.body).toContain('Service Unavailable');
}

function expectJsonRpcUnavailable(answer: Answer): void {
  expectUnavailable(answer);
  expect(membersOf(answer)).toMatchObject({
    jsonrpc: '2.0',
    error: { code: 50301, data: { reason: 'store-unavailable' } },
  });
}

/** Something that is done again and again. */
interface Loop<Result> extends AsyncDisposable {
  /** Ends it; tells what it gave. */
  stop(): Promise<readonly Result[]>;
}

function repeat<Result>(work: () => Promise<Result>): Loop<Result> {
  const results: Result[] = [];
  let isOver = false;
  const loop = async (): Promise<void> => {
    // Once more after it was told to end: that one began when everything was as it should be.
    for (let isLast = false; !isLast;) {
      isLast = isOver;
      results.push(await work());
      await wait(PAUSE_MS);
    }
  };
  const done = loop();
  const stop = async (): Promise<readonly Result[]> => {
    isOver = true;
    await done;
    return results;
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

function statusesOf(answers: readonly Pick<Answer, 'status'>[]): readonly number[] {
  return [...new Set(answers.map(({ status }) => status))].sort();
}

describeWithRedis('proxies whose Redis goes away', () => {
  const started = new AsyncDisposableStack();
  let redis: TestRedis;
  let relay: TcpRelay;
  let fleet: GatewayFleet;
  let warm: readonly SignedInClient[];

  beforeAll(async () => {
    redis = started.use(await startRedis({ keepsData: true }));
    relay = started.use(await startTcpRelay(redis.port));
    const relayed = `redis://127.0.0.1:${String(relay.port)}`;
    fleet = started.use(await startFleet({ redisUrls: [redis.url, relayed] }));
    warm = await Promise.all(
      ['alice', 'bob', 'carol'].map((login) => signInClient(fleet.mcpUrl, { login })),
    );
  });

  afterAll(() => started.disposeAsync());

  beforeEach(() => warmUp(warm));

  /** Has every process check the tokens of clients. */
  async function warmUp(clients: readonly SignedInClient[]): Promise<void> {
    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      for (const client of clients)
        expect(await call(fleet, client)).toMatchObject({ status: 200 });
    }
    fleet.balancer.spread();
  }

  test('serve what they know, refuse the rest for a while, and go on when it is back', async () => {
    await using stack = new AsyncDisposableStack();
    const cold = await signInClient(fleet.mcpUrl);
    const visitor = await signInBrowser(fleet);
    const calls = warm.map((client) => stack.use(repeat(() => call(fleet, client))));
    const refresher = await signInClient(fleet.mcpUrl);
    const refreshes = stack.use(keepRefreshing(refresher));
    const logins = stack.use(repeat(() => logIn(refresher)));

    await redis.stop();
    const stoppedAt = performance.now();
    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      expectOAuthUnavailable(await register(fleet));
      expectOAuthUnavailable(await refresh(cold, cold.refreshToken));
      expectOAuthUnavailable(await revoke(cold, cold.refreshToken));
      expectJsonRpcUnavailable(await call(fleet, cold));
      expectUnavailablePage(await new BrowserJar().open(fleet.webUrl));
      expect(await send(fleet.publicUrl)).toMatchObject({ status: 200 });
      expect(await discover(fleet.mcpUrl)).toEqual(cold.server);
      expect(await fleet.members[proxy]?.readiness()).toBe(200);
    }
    // The last one has not seen it yet.
    expectUnavailablePage(await visitor.clone().open(fleet.webUrl));
    fleet.balancer.spread();
    await eventually('checks are too old', () => performance.now() - stoppedAt > CHECKED_MS);
    await redis.start();
    await healed(fleet);

    const answers = await Promise.all(calls.map((loop) => loop.stop()));
    expect(answers.map(statusesOf)).toEqual(warm.map(() => [200]));
    expectInterrupted(await refreshes.stop());
    expect(statusesOf(await logins.stop())).toEqual([200, 503]);
    for (const client of [...warm, cold]) {
      expect(await call(fleet, client)).toMatchObject({ status: 200 });
      tokensOf(await refresh(client, client.refreshToken));
    }
    expect(await visitor.open(fleet.webUrl)).toMatchObject({ status: 200 });
  });

  test('fail fast when it does not answer, and go on when it does', async () => {
    await using stack = new AsyncDisposableStack();
    const calls = warm.map((client) => stack.use(repeat(() => call(fleet, client))));
    const refreshes = stack.use(keepRefreshing(await signInClient(fleet.mcpUrl)));
    redis.freeze();
    stack.defer(() => redis.thaw());
    const frozenAt = performance.now();
    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      const isRefused = async (): Promise<boolean> => (await register(fleet)).status === 503;
      await eventually('a registration is refused', isRefused, FAILED_MS);
    }
    fleet.balancer.spread();
    await eventually('checks are too old', () => performance.now() - frozenAt > CHECKED_MS);
    redis.thaw();
    await healed(fleet);

    const answers = await Promise.all(calls.map((loop) => loop.stop()));
    expect(answers.map(statusesOf)).toEqual(warm.map(() => [200]));
    expectInterrupted(await refreshes.stop());
    expect(await call(fleet, await signInClient(fleet.mcpUrl))).toMatchObject({ status: 200 });
  });

  test('hear of a revocation that one was cut off from, once it is back', async () => {
    const client = await signInClient(fleet.mcpUrl);
    await warmUp([client]);
    relay.cut();
    fleet.balancer.only(SECOND);
    await eventually('one is cut off', async () => (await register(fleet)).status === 503);
    fleet.balancer.only(FIRST);
    expect(await revoke(client, client.refreshToken)).toMatchObject({ status: 200 });
    expect(await call(fleet, client)).toMatchObject({ status: 401 });
    fleet.balancer.only(SECOND);
    expect(await call(fleet, client)).toMatchObject({ status: 200 });
    relay.mend();

    const isRefused = async (): Promise<boolean> => (await call(fleet, client)).status === 401;
    await eventually('the token is refused', isRefused, HEARD_OF_MS);
    fleet.balancer.spread();
    await warmUp(warm);
  });

  test('hear of a revocation that was made while they could not hear', async () => {
    const client = await signInClient(fleet.mcpUrl);
    await warmUp([client]);
    await redis.send('CLIENT', 'KILL', 'TYPE', 'pubsub');
    fleet.balancer.only(FIRST);
    expect(await revoke(client, client.refreshToken)).toMatchObject({ status: 200 });

    fleet.balancer.only(SECOND);
    const isRefused = async (): Promise<boolean> => (await call(fleet, client)).status === 401;
    await eventually('the token is refused', isRefused, HEARD_OF_MS);
    fleet.balancer.spread();
  });

  test('log no secret, and nothing that crashed', () => {
    expectCleanOutput(fleet);
  });
});

describeWithRedis('a proxy without a Redis', () => {
  test('starts, is ready, serves what needs none, and heals when there is one', async () => {
    await using redis = await startRedis();
    await redis.stop();
    await using fleet = await startFleet({ redisUrls: [redis.url] });
    expect(await fleet.members[FIRST]?.readiness()).toBe(200);
    expect(await send(fleet.publicUrl)).toMatchObject({ status: 200 });
    expect((await discover(fleet.mcpUrl)).issuer).toBe(fleet.mcpUrl);
    expectOAuthUnavailable(await register(fleet));
    expectUnavailablePage(await new BrowserJar().open(fleet.webUrl));
    await redis.start();
    await healed(fleet);

    expect(await call(fleet, await signInClient(fleet.mcpUrl))).toMatchObject({ status: 200 });
    expectCleanOutput(fleet);
  });

  test('serves what it knows for as long as it is told to', async () => {
    await using redis = await startRedis();
    await using strict = await startFleet({
      ...{ redisUrls: [redis.url], settings: { outageGrace: '0s' } },
    });
    await using lenient = await startFleet({
      ...{ redisUrls: [redis.url], settings: { outageGrace: '8s' } },
    });
    const [strictClient, lenientClient] = [
      await signInClient(strict.mcpUrl),
      await signInClient(lenient.mcpUrl),
    ];
    const isRefused = async (fleet: GatewayFleet, client: SignedInClient): Promise<boolean> => {
      const answer = await call(fleet, client);
      if (answer.status !== 200) expectJsonRpcUnavailable(answer);
      return answer.status !== 200;
    };
    expect(await isRefused(lenient, lenientClient)).toBe(false);
    expect(await isRefused(strict, strictClient)).toBe(false);
    await redis.stop();

    expect(await isRefused(strict, strictClient)).toBe(false);
    await eventually('the strict one refuses', () => isRefused(strict, strictClient));
    expect(await isRefused(lenient, lenientClient)).toBe(false);
    await eventually('the lenient one refuses', () => isRefused(lenient, lenientClient));
    await redis.start();
  });
});

/** Refreshes again and again; after a failure with the same token once more. */
function keepRefreshing(client: SignedInClient): Loop<Answer> {
  let { refreshToken } = client;
  return repeat(async () => {
    const answer = await refresh(client, refreshToken);
    if (answer.status === 200) ({ refreshToken } = tokensOf(answer));
    return answer;
  });
}

/** Fails unless requests were refused for a while, and worked at the end. */
function expectInterrupted(answers: readonly Answer[]): void {
  expect(statusesOf(answers)).toEqual([200, 503]);
  for (const answer of answers) if (answer.status !== 200) expectOAuthUnavailable(answer);
  expect(answers.at(-1)).toMatchObject({ status: 200 });
}

/** A browser that is signed in, which one process has seen and the other has not. */
async function signInBrowser({ webUrl, balancer }: Fleet): Promise<BrowserJar> {
  const browser = new BrowserJar();
  balancer.only(FIRST);
  const page = await browser.submit(await browser.open(webUrl), { login: 'alice' });
  balancer.spread();
  expect(page).toMatchObject({ status: 200 });
  return browser;
}

/** A login of a registered client; the status of the first answer that is no success. */
async function logIn({ server, clientId }: SignedInClient): Promise<Pick<Answer, 'status'>> {
  try {
    const redirect = await authorize(server, clientId);
    return await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
  } catch (error) {
    // What a page says that is no redirect to the client.
    expect(String(error)).toContain('Service Unavailable');
    return { status: 503 };
  }
}
