import { once } from 'node:events';

import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send, type Answer, type RequestOptions } from '../support/http-client.ts';
import { startLoadBalancer, type LoadBalancer } from '../support/load-balancer.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

/** Addresses of this machine: of two load balancers, and of clients. */
const OUTER = '127.0.0.2';
const INNER = '127.0.0.3';
const ALICE = '127.0.1.1';
const BOB = '127.0.1.2';
const SPOOFED = '198.51.100.1';

const PER_MINUTE = 20;
const REGISTRATION = JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/callback'] });

let clock: { now: number };
let world: GatewayWithUsers;
let second: GatewayWithUsers;
let upstream: Upstream;
let webSockets: WebSocketServer;
let inner: LoadBalancer;
let outer: LoadBalancer;
let beforeSecond: LoadBalancer;

beforeAll(async () => {
  clock = { now: Date.now() };
  const now = (): number => clock.now;
  const stores = createMemoryStores(now);
  upstream = await startUpstream((_message, response) => response.end());
  webSockets = new WebSocketServer({ server: upstream.server });
  world = await startGatewayWithUsers({ stores, now });
  second = await startGatewayWithUsers({ stores, now });
  // Client, outer, inner, gateway.
  inner = await startLoadBalancer(INNER, world.gateway.port);
  outer = await startLoadBalancer(OUTER, inner.port);
  beforeSecond = await startLoadBalancer(OUTER, second.gateway.port);
});

afterAll(async () => {
  webSockets.close();
  for (const part of [beforeSecond, outer, inner, second, world, upstream]) {
    await part[Symbol.asyncDispose]();
  }
});

beforeEach(async () => {
  clock.now += 60_000;
  for (const each of [world, second]) await trust(each, [`${OUTER}/32`, `${INNER}/32`]);
});

async function trust(gateway: GatewayWithUsers, trustedProxies: readonly string[]): Promise<void> {
  const [web, mcp] = [gateway.originOf('web'), gateway.originOf('mcp')];
  const to = upstream.origin;
  await gateway.configure(
    {
      web: { from: web, to, allowPublicUnauthenticatedAccess: true, allowWebsockets: true },
      mcp: { from: mcp, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
    },
    { trustedProxies },
  );
}

/** Returns the client address that the upstream received. */
async function clientSeen(options: RequestOptions): Promise<readonly string[]> {
  await send(world.originOf('web'), options);
  return forwardedFor();
}

function forwardedFor(): readonly string[] {
  const { headers = [] } = upstream.requests.at(-1) ?? {};
  return headers.flatMap(([name, value]) =>
    name.toLowerCase() === 'x-forwarded-for' ? [value] : [],
  );
}

function register(options: RequestOptions, gateway = world): Promise<Answer> {
  const { headers, ...rest } = options;
  return send(`${gateway.originOf('mcp')}/.gateway/mcp/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: REGISTRATION,
    ...rest,
  });
}

async function statuses(count: number, attempt: () => Promise<Answer>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, attempt));
  return answers.map(({ status }) => status);
}

const CREATED = Array<number>(PER_MINUTE).fill(201);

describe('The client address of a request', () => {
  verifies('route.client-address', 'the client is the peer of the connection', async () => {
    expect(await clientSeen({ from: ALICE })).toEqual([ALICE]);
  });

  verifies(
    'route.client-address',
    'the client is not the address that a client sends',
    async () => {
      for (const claim of [SPOOFED, `${SPOOFED}, ${OUTER}`, [SPOOFED, INNER]]) {
        expect(await clientSeen({ from: ALICE, headers: { 'x-forwarded-for': claim } })).toEqual([
          ALICE,
        ]);
      }
    },
  );

  verifies(
    'route.client-address',
    'the client is the address that a trusted proxy sends',
    async () => {
      expect(await clientSeen({ from: ALICE, through: inner.port })).toEqual([ALICE]);
    },
  );

  verifies(
    'route.client-address',
    'the client is the address that the first of two trusted proxies sends',
    async () => {
      expect(await clientSeen({ from: ALICE, through: outer.port })).toEqual([ALICE]);
    },
  );

  verifies(
    'route.client-address',
    'the client is not the address that a client sends through trusted proxies',
    async () => {
      for (const claim of [SPOOFED, `${SPOOFED}, ${OUTER}`, [SPOOFED, INNER], 'unknown']) {
        const headers = { 'x-forwarded-for': claim };
        for (const { port } of [inner, outer]) {
          expect(await clientSeen({ from: ALICE, through: port, headers })).toEqual([ALICE]);
        }
      }
    },
  );

  verifies(
    'route.client-address',
    'the client is the same in several header lines as in one list',
    async () => {
      for (const lines of [
        [SPOOFED, ALICE],
        [SPOOFED, `${ALICE}, ${INNER}`],
        [`${SPOOFED}, ${ALICE}`, INNER],
      ]) {
        expect(await clientSeen({ from: OUTER, headers: { 'x-forwarded-for': lines } })).toEqual([
          ALICE,
        ]);
      }
    },
  );

  verifies('route.client-address', 'the client is the last proxy that is not trusted', async () => {
    await trust(world, [`${INNER}/32`]);
    expect(await clientSeen({ from: ALICE, through: outer.port })).toEqual([OUTER]);
    await trust(world, [`${OUTER}/32`]);
    expect(await clientSeen({ from: ALICE, through: outer.port })).toEqual([INNER]);
    await trust(world, []);
    expect(await clientSeen({ from: ALICE, through: outer.port })).toEqual([INNER]);
  });

  verifies(
    'route.client-address',
    'the client of a WebSocket is found in the same way',
    async () => {
      const { host } = new URL(world.originOf('web'));
      const webSocket = new WebSocket(`ws://127.0.0.1:${String(outer.port)}`, {
        headers: { host, 'x-forwarded-for': SPOOFED },
        localAddress: ALICE,
      });
      const connected = once(webSockets, 'connection');
      await once(webSocket, 'open');
      const [, message] = (await connected) as [WebSocket, { headers: Record<string, string> }];
      webSocket.close();
      await once(webSocket, 'close');
      expect(message.headers['x-forwarded-for']).toBe(ALICE);
    },
  );
});

describe('The limit on registrations', () => {
  verifies(
    ['as.registration-rate-limited', 'route.client-address'],
    'clients behind a trusted load balancer have limits of their own',
    async () => {
      const alice = (): Promise<Answer> => register({ from: ALICE, through: outer.port });
      expect(await statuses(PER_MINUTE, alice)).toEqual(CREATED);
      expect((await alice()).status).toBe(429);
      expect((await register({ from: BOB, through: outer.port })).status).toBe(201);
      // All of these requests come from one client.
      expect((await register({ from: ALICE, through: inner.port })).status).toBe(429);
      expect((await register({ from: ALICE })).status).toBe(429);
    },
  );

  verifies(
    ['as.registration-rate-limited', 'route.client-address'],
    'a client cannot evade its limit by sending other addresses',
    async () => {
      let claims = 0;
      for (const through of [undefined, inner.port, outer.port]) {
        clock.now += 60_000;
        const attempt = (): Promise<Answer> => {
          claims += 1;
          const headers = { 'x-forwarded-for': `192.0.2.${String(claims)}` };
          return register({ from: ALICE, headers, ...(through !== undefined && { through }) });
        };
        expect(await statuses(PER_MINUTE, attempt)).toEqual(CREATED);
        expect((await attempt()).status).toBe(429);
      }
    },
  );

  verifies(
    'as.registration-rate-limited',
    'clients behind a load balancer that is not trusted share one limit',
    async () => {
      await trust(world, []);
      const alice = (): Promise<Answer> => register({ from: ALICE, through: inner.port });
      expect(await statuses(PER_MINUTE, alice)).toEqual(CREATED);
      expect((await register({ from: BOB, through: inner.port })).status).toBe(429);
    },
  );

  verifies(
    'as.registration-rate-limited',
    'the limit counts over all proxies of a store',
    async () => {
      const here = (): Promise<Answer> => register({ from: ALICE, through: outer.port });
      const there = (): Promise<Answer> =>
        register({ from: ALICE, through: beforeSecond.port }, second);
      expect(await statuses(PER_MINUTE / 2, here)).toEqual(CREATED.slice(PER_MINUTE / 2));
      expect(await statuses(PER_MINUTE / 2, there)).toEqual(CREATED.slice(PER_MINUTE / 2));
      expect((await here()).status).toBe(429);
      expect((await there()).status).toBe(429);
    },
  );
});
