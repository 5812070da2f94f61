import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { makeSealingKeys } from '../../cli/process/sealing-keys.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import { ExternalTokens } from '../../proxy/authentication/external-tokens.ts';
import { revokeGrant } from '../../proxy/authorization-server/grants/revoke-grant.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { emptyResult } from '../support/mcp-route.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';
import { startUpstream } from '../support/upstream.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const SECOND = 1000;

/** A proxy whose clock only the test moves, and another proxy on the same Redis. */
interface Bounds extends AsyncDisposable {
  /** Status of a call with the client's token, which the proxy has checked before. */
  status(): Promise<number>;
  /** Moves the clock of the proxy, and of nothing else. */
  advance(seconds: number): void;
  /** The other proxy revokes the client's grant, and publishes that. */
  revoke(): Promise<void>;
  /** The other proxy revokes the client's grant, and the message is lost. */
  revokeInSilence(): Promise<void>;
}

async function startBounds(redis: TestRedis, outageGrace?: string): Promise<Bounds> {
  await using opening = new AsyncDisposableStack();
  const sealingKeys = makeSealingKeys();
  const sealer = new Sealer(sealingKeys);
  const own = opening.use(await connected(redis.url));
  const other = opening.use(await connected(redis.url));
  const others = createRedisStores(other.connection, sealer);
  let time = Date.now();
  const upstream = opening.use(await startUpstream(emptyResult));
  const stores = createRedisStores(own.connection, sealer);
  const world = opening.use(await startGatewayWithUsers({ stores, sealingKeys, now: () => time }));
  const url = world.originOf('mcp');
  const route = { from: url, to: upstream.origin, mcp: { server: {} } };
  const settings = outageGrace === undefined ? {} : { outageGrace };
  await world.configure({ mcp: { ...route, allowAnyAuthenticatedUser: true } }, settings);
  const { accessToken } = await signInClient(url);
  const grantId = new ExternalTokens(sealer).open(accessToken)?.grantId;
  if (grantId === undefined) throw new Error('the token was issued here');
  const status = async (): Promise<number> => (await callMcp(url, accessToken, PING)).status;
  await heardBetween(others, stores);
  expect(await status()).toBe(200);
  const open = opening.move();
  return {
    status,
    advance: (seconds) => void (time += seconds * SECOND),
    revoke: () => revokeGrant(others, grantId),
    async revokeInSilence() {
      await others.grants.revoke(grantId);
      await others.refreshTokens.revokeFamily(grantId);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Waits until both have subscribed; messages before that are lost. */
async function heardBetween(from: Stores, to: Stores): Promise<void> {
  let isHeard = false;
  const unsubscribe = to.revocations.subscribe(() => (isHeard = true));
  await eventually('a message is received', async () => {
    await from.revocations.publish({ kind: 'token', tokenId: 'of-nobody' });
    return isHeard;
  });
  unsubscribe();
}

let redis: TestRedis;
let bounds: Bounds;

describeWithRedis('a revocation by another proxy', () => {
  beforeAll(async () => {
    redis = await startRedis({ keepsData: true });
  });

  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    bounds = await startBounds(redis);
  });

  afterEach(async () => {
    await bounds[Symbol.asyncDispose]();
  });

  test('takes effect before anything is checked again', async () => {
    expect(await bounds.status()).toBe(200);
    await bounds.revoke();
    await eventually('the token is refused', async () => (await bounds.status()) === 401);
  });

  test('takes effect after five seconds if its message was lost', async () => {
    await bounds.revokeInSilence();
    bounds.advance(4.9);
    expect(await bounds.status()).toBe(200);
    bounds.advance(0.1);
    expect(await bounds.status()).toBe(401);
  });

  test('takes effect at once if the subscription is lost, and the message with it', async () => {
    await bounds.revokeInSilence();
    expect(await bounds.status()).toBe(200);
    await redis.send('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually('the token is refused', async () => (await bounds.status()) === 401);
  });

  test('takes effect when Redis is back after all proxies lost it', async () => {
    await bounds.revokeInSilence();
    await redis.stop();
    bounds.advance(5);
    expect(await bounds.status()).toBe(200);
    await redis.start();
    await eventually('the token is refused', async () => (await bounds.status()) === 401);
  });
});

describeWithRedis('a token that was checked before Redis went away', () => {
  test.each([
    ['for a minute by default', undefined, 60],
    ['as long as the settings say', '30s', 30],
    ['for five seconds without a grace', '0s', 5],
  ])('remains valid %s', async (_title, outageGrace, seconds) => {
    await using away = await startRedis();
    await using proxy = await startBounds(away, outageGrace);
    await away.stop();
    proxy.advance(seconds - 0.1);
    expect(await proxy.status()).toBe(200);
    proxy.advance(0.1);
    expect(await proxy.status()).toBe(503);
  });
});
