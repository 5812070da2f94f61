import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as ClassicClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as ClassicTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { errorCode } from '../../shared/runtime/error-code.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { eventually } from '../support/eventually.ts';
import { expectCleanOutput } from '../support/expect-clean-output.ts';
import { startFleet, type GatewayFleet } from '../support/gateway-fleet.ts';
import { startLoopbackClient, type LoopbackClient } from '../support/loopback-client.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import {
  authorize,
  callMcp,
  discover,
  redeem,
  register,
  signInClient,
  type FoundServer,
} from '../support/signed-in-client.ts';
import { refresh, tokensOf, type Tokens } from '../support/token-requests.ts';
import { fieldsOfPatientUser } from '../support/patient-user.ts';

/** Repeats the choices of the balancer, and the times at which processes are killed. */
const seed = Number(process.env['BALANCER_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const KILLS = 2;
const LONGEST_LIFE_MS = 400;
const LONGEST_ABSENCE_MS = 100;
/** How long a renewal is reserved for a proxy that does not answer. */
const LEASE_SECONDS = 15;

const INFO = { name: 'killed-proxy-test', version: '1.0.0' };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

const started = new AsyncDisposableStack();
const random = randomNumbers(seed);
let fleet: GatewayFleet;

/** Kills one process after another while the workers run; one process always lives. */
async function killSome(): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await wait(random() * LONGEST_LIFE_MS);
    const member = fleet.members[kill % fleet.members.length];
    await member?.kill();
    await wait(random() * LONGEST_ABSENCE_MS);
    await member?.start();
  }
}

/** Repeats the work until the killing is over. Returns all results and failures. */
async function whileKilling<Result>(
  workers: readonly (() => Promise<Result>)[],
): Promise<{ readonly results: readonly Result[]; readonly failures: readonly unknown[] }> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  let isOver = false;
  const loops = workers.map(async (work) => {
    while (!isOver) {
      await work().then(
        (result) => results.push(result),
        (error: unknown) => failures.push(error),
      );
    }
  });
  await killSome();
  isOver = true;
  await Promise.all(loops);
  return { results, failures };
}

/** Whether a request failed because its connection broke; `fetch` wraps that error. */
function isLostConnection(error: unknown): boolean {
  if (errorCode(error) === 'ECONNRESET' || errorCode(error) === 'UND_ERR_SOCKET') return true;
  const hasCause = typeof error === 'object' && error !== null && 'cause' in error;
  return hasCause && isLostConnection(error.cause);
}

describeWithRedis(`a proxy that is killed (BALANCER_SEED=${String(seed)})`, () => {
  beforeAll(async () => {
    const redis = started.use(await startRedis());
    fleet = started.use(await startFleet({ redisUrls: [redis.url, redis.url], seed }));
  });

  afterAll(() => started.disposeAsync());

  test('costs a client on the official SDK only the requests in flight', async () => {
    await using stack = new AsyncDisposableStack();
    const connections = await Promise.all(
      [connectClassic, connectModern].map(async (connect) => {
        const client = stack.use(await startLoopbackClient('Killed proxy test'));
        return stack.adopt(await signIn(client, connect), (connection) => connection.close());
      }),
    );
    const signIns = fleet.identityProvider.authorizationRequests.length;
    const lostBefore = fleet.balancer.lost;

    const call = { name: 'echo', arguments: { text: 'still here' } };
    const { results, failures } = await whileKilling(
      connections.map((connection) => () => connection.callTool(call)),
    );

    expect(results.length).toBeGreaterThan(KILLS);
    for (const result of results) expect(JSON.stringify(result)).toContain('still here');
    expect(failures.filter((error) => !isLostConnection(error))).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(fleet.balancer.lost - lostBefore);
    expect(fleet.identityProvider.authorizationRequests).toHaveLength(signIns);
  });

  test('costs sign-ins and refreshes only the requests in flight', async () => {
    const server = await discover(fleet.mcpUrl);
    const clientId = await register(server);
    const client = { server, clientId };
    const lostBefore = fleet.balancer.lost;
    const latest: Tokens[] = [];
    const signInLoops = [1, 2].map(() => async () => {
      latest.push(await signInByHand(server, clientId));
    });
    const refreshes = [0, 1, 2].map((index) => async () => {
      // After a lost response this repeats the same token.
      latest[index] = tokensOf(await refresh(client, latest[index]?.refreshToken ?? ''));
    });
    latest.push(...(await Promise.all(refreshes.map(() => signInByHand(server, clientId)))));
    const { results, failures } = await whileKilling([...signInLoops, ...refreshes]);

    expect(results.length).toBeGreaterThan(KILLS);
    expect(failures.filter((error) => !isLostConnection(error))).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(fleet.balancer.lost - lostBefore);
    for (const { accessToken, refreshToken } of latest) {
      expect((await callMcp(fleet.mcpUrl, accessToken, PING)).status).toBe(200);
      tokensOf(await refresh(client, refreshToken));
    }
  });

  test('logs no secret, warning or crash', () => {
    expectCleanOutput(fleet);
  });
});

describeWithRedis('a proxy that is killed while it renews a session', () => {
  test('leaves the renewal to another proxy, and the refresh token unused', async () => {
    await using redis = await startRedis();
    await using short = await startFleet({
      redisUrls: [redis.url, redis.url],
      settings: { cookie: { expiration: '2s' } },
      identityProvider: { refreshTokens: 'rotated' },
    });
    const { balancer, identityProvider, members, mcpUrl } = short;
    const client = await signInClient(mcpUrl);
    const isOver = async (): Promise<boolean> =>
      (await callMcp(mcpUrl, client.accessToken, PING)).status === 401;
    await eventually('the session is over', isOver);
    const before = identityProvider.tokenRequests();
    const goOn = identityProvider.hold('token');
    balancer.only(0);
    const lost = Promise.allSettled([refresh(client, client.refreshToken)]);
    await eventually('the provider is asked', () => identityProvider.tokenRequests() > before);
    await members[0]?.kill();
    expect(await lost).toMatchObject([{ status: 'rejected' }]);
    // The provider fails before it uses the token up.
    identityProvider.fail('token');
    goOn();
    await wait(0);
    identityProvider.answers.clear();
    // Until then the proxy might only be slow.
    redis.advance(LEASE_SECONDS);

    balancer.only(1);
    tokensOf(await refresh(client, client.refreshToken));
    expect(identityProvider.tokenRequests() - before).toBe(2);
  });
});

async function signInByHand(server: FoundServer, clientId: string): Promise<Tokens> {
  const redirect = await authorize(server, clientId);
  return tokensOf(await redeem(server, clientId, redirect.searchParams.get('code') ?? ''));
}

/** The methods of both SDK generations that these tests use. */
interface Connection {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects, after exchanging the redirect for tokens if there is one. */
type Connect = (client: LoopbackClient, callback?: URLSearchParams) => Promise<Connection>;

const connectClassic: Connect = async ({ provider }, callback) => {
  const options = { authProvider: provider };
  const url = new URL(fleet.sdkUrl);
  const code = callback?.get('code');
  if (typeof code === 'string') await new ClassicTransport(url, options).finishAuth(code);
  const client = new ClassicClient(INFO);
  await client.connect(new ClassicTransport(url, options));
  return client;
};

const connectModern: Connect = async ({ provider }, callback) => {
  const options = { authProvider: provider };
  const url = new URL(fleet.sdkUrl);
  if (callback !== undefined) await new ModernTransport(url, options).finishAuth(callback);
  const client = new ModernClient(INFO);
  await client.connect(new ModernTransport(url, options));
  return client;
};

async function signIn(client: LoopbackClient, connect: Connect): Promise<Connection> {
  await expect(connect(client)).rejects.toThrow();
  const browser = new BrowserJar();
  const signIn = await browser.open((await client.authorizationUrl).href);
  const consent = await browser.submit(signIn, { login: 'alice' });
  await browser.submit(consent, fieldsOfPatientUser(consent, browser));
  return connect(client, await client.callback);
}
