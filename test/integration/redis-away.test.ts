import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { eventually } from '../support/eventually.ts';
import { expectCleanOutput } from '../support/expect-clean-output.ts';
import { startFleet, type GatewayFleet } from '../support/gateway-fleet.ts';
import { send, type Answer } from '../support/http-client.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import {
  authorize,
  discover,
  redeem,
  signInClient,
  type SignedInClient,
} from '../support/signed-in-client.ts';
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts';
import { refresh, revoke, tokensOf } from '../support/token-requests.ts';
import {
  call,
  expectJsonRpcUnavailable,
  expectOAuthUnavailable,
  expectUnavailablePage,
  recovered,
  register,
} from '../support/fleet-outage.ts';
import { repeat, type Loop } from '../support/repeat.ts';

const FIRST = 0;
const SECOND = 1;
const BOTH = [FIRST, SECOND];

/** A little longer than a checked token is valid without asking Redis. */
const CHECKED_MS = 6000;

function statusesOf(answers: readonly Pick<Answer, 'status'>[]): readonly number[] {
  return [...new Set(answers.map(({ status }) => status))].sort();
}

describeWithRedis('Proxies whose Redis becomes unreachable', () => {
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

  /** Makes every process check the tokens of clients. */
  async function warmUp(clients: readonly SignedInClient[]): Promise<void> {
    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      for (const client of clients)
        expect(await call(fleet, client)).toMatchObject({ status: 200 });
    }
    fleet.balancer.spread();
  }

  test('proxies serve checked callers, refuse others with 503, and recover when Redis is back', async () => {
    await using stack = new AsyncDisposableStack();
    const cold = await signInClient(fleet.mcpUrl);
    const visitor = await signInBrowser(fleet);
    const calls = warm.map((client) => stack.use(repeat(() => call(fleet, client))));
    const refresher = await signInClient(fleet.mcpUrl);
    const refreshes = stack.use(keepRefreshing(refresher));
    const signIns = stack.use(repeat(() => signIn(refresher)));

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
    // The last process has not seen this session yet.
    expectUnavailablePage(await visitor.clone().open(fleet.webUrl));
    fleet.balancer.spread();
    await eventually('the checks have expired', () => performance.now() - stoppedAt > CHECKED_MS);
    await redis.start();
    await recovered(fleet);

    const answers = await Promise.all(calls.map((loop) => loop.stop()));
    expect(answers.map(statusesOf)).toEqual(warm.map(() => [200]));
    expectInterrupted(await refreshes.stop());
    expect(statusesOf(await signIns.stop())).toEqual([200, 503]);
    for (const client of [...warm, cold]) {
      expect(await call(fleet, client)).toMatchObject({ status: 200 });
      tokensOf(await refresh(client, client.refreshToken));
    }
    expect(await visitor.open(fleet.webUrl)).toMatchObject({ status: 200 });
  });

  test('proxies refuse quickly while Redis does not answer, and recover when it does', async () => {
    await using stack = new AsyncDisposableStack();
    const calls = warm.map((client) => stack.use(repeat(() => call(fleet, client))));
    const refreshes = stack.use(keepRefreshing(await signInClient(fleet.mcpUrl)));
    redis.freeze();
    stack.defer(() => redis.thaw());
    const frozenAt = performance.now();
    for (const proxy of BOTH) {
      fleet.balancer.only(proxy);
      const isRefused = async (): Promise<boolean> => (await register(fleet)).status === 503;
      // While Redis still does not answer.
      await eventually('a registration is refused', isRefused);
    }
    fleet.balancer.spread();
    await eventually('the checks have expired', () => performance.now() - frozenAt > CHECKED_MS);
    redis.thaw();
    await recovered(fleet);

    const answers = await Promise.all(calls.map((loop) => loop.stop()));
    expect(answers.map(statusesOf)).toEqual(warm.map(() => [200]));
    expectInterrupted(await refreshes.stop());
    expect(await call(fleet, await signInClient(fleet.mcpUrl))).toMatchObject({ status: 200 });
  });

  test('a proxy that was cut off learns of a revocation once it is connected again', async () => {
    const client = await signInClient(fleet.mcpUrl);
    await warmUp([client]);
    relay.cut();
    fleet.balancer.only(SECOND);
    await eventually('one proxy is cut off', async () => (await register(fleet)).status === 503);
    fleet.balancer.only(FIRST);
    expect(await revoke(client, client.refreshToken)).toMatchObject({ status: 200 });
    expect(await call(fleet, client)).toMatchObject({ status: 401 });
    fleet.balancer.only(SECOND);
    expect(await call(fleet, client)).toMatchObject({ status: 200 });
    relay.mend();

    const isRefused = async (): Promise<boolean> => (await call(fleet, client)).status === 401;
    await eventually('the token is refused', isRefused);
    fleet.balancer.spread();
    await warmUp(warm);
  });

  test('a proxy learns of a revocation that was published while its subscription was lost', async () => {
    const client = await signInClient(fleet.mcpUrl);
    await warmUp([client]);
    await redis.send('CLIENT', 'KILL', 'TYPE', 'pubsub');
    fleet.balancer.only(FIRST);
    expect(await revoke(client, client.refreshToken)).toMatchObject({ status: 200 });

    fleet.balancer.only(SECOND);
    const isRefused = async (): Promise<boolean> => (await call(fleet, client)).status === 401;
    await eventually('the token is refused', isRefused);
    fleet.balancer.spread();
  });

  test('the processes log no secret and do not crash', () => {
    expectCleanOutput(fleet);
  });
});

/** Refreshes repeatedly; after a failure it uses the same token again. */
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

/** Returns a browser with a session that one process has checked and the other has not. */
async function signInBrowser({ webUrl, balancer }: GatewayFleet): Promise<BrowserJar> {
  const browser = new BrowserJar();
  balancer.only(FIRST);
  const page = await browser.submit(await browser.open(webUrl), { login: 'alice' });
  balancer.spread();
  expect(page).toMatchObject({ status: 200 });
  return browser;
}

/** Signs in with a registered client; returns the status of the first response that is not a success. */
async function signIn({ server, clientId }: SignedInClient): Promise<Pick<Answer, 'status'>> {
  try {
    const redirect = await authorize(server, clientId);
    return await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
  } catch (error) {
    // The error quotes the page that came in place of the redirect to the client.
    expect(String(error)).toContain('Service Unavailable');
    return { status: 503 };
  }
}
