import { Agent, request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld, type ClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { hostOf, TEAM } from '../support/kubernetes/gateway-manifests.ts';
import type { ProxyMember } from '../support/kubernetes/proxy-member.ts';
import type { TestRedis } from '../support/redis/start-redis.ts';
import { startTcpService } from '../support/tcp-service.ts';

describe('proxies that fail', () => {
  const opened = new AsyncDisposableStack();
  let redis: TestRedis;
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ redis, gateway } = opened.use(await startWorld(3)));
  });
  afterAll(() => opened.disposeAsync());

  test('receive changes without Redis, and stay ready', async () => {
    await redis.stop();
    await gateway.applyRoute('without-redis');

    await gateway.untilServed('without-redis');
    await gateway.untilCondition('without-redis', 'Programmed', 'True/Programmed');
    const answers = await Promise.all(gateway.proxies.map((proxy) => proxy.admin('/readyz')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await redis.start();
    await gateway.applyRoute('with-redis');
    await gateway.untilServed('with-redis');
  });

  test('do not delay others while one is slow, which then gets only the newest snapshot', async () => {
    const [slow, ...others] = gateway.proxies;
    slow?.pause();
    await gateway.applyRoute('changing');
    const ms = await gateway.untilServed('changing', { proxies: others });
    await gateway.untilCondition('changing', 'Programmed', 'False/Pending');
    const message = await programmedMessage(gateway, 'changing');
    for (const path of ['/one', '/two', '/three']) {
      await gateway.applyRoute('changing', { prefix: path });
      await eventually(`the others serve ${path}`, () => areServing(others, 'changing', path));
    }
    expect(await gateway.condition('changing', 'Programmed')).toBe('False/Pending');
    const before = slow?.log.length ?? 0;
    slow?.resume();

    await eventually('the slow proxy serves the newest snapshot', () =>
      areServing(gateway.proxies, 'changing', '/three'),
    );
    await gateway.untilCondition('changing', 'Programmed', 'True/Programmed');
    console.info(`slow proxy: others served a new Route after ${String(ms)} ms`);
    expect(message).toContain('2 of 3');
    const applied = slow?.log.slice(before).filter(isApplied) ?? [];
    // The snapshot that was on its way when the proxy stopped, and the newest.
    expect(applied.length).toBeLessThanOrEqual(2);
  });

  test('drain without a failed request when they get SIGTERM', async () => {
    const [leaving] = gateway.proxies;
    await using service = await startReadyService(gateway.proxies);
    await using load = startKeptAliveLoad(service.port, hostOf('first'));
    await eventually('all connections are used', () => load.requests > 100);
    const started = performance.now();
    leaving?.beginTermination();
    await eventually('the proxy is not counted as ready', async () => {
      const { status } = await gateway.settings();
      return status?.proxies?.ready === 2;
    });
    await gateway.applyRoute('during-the-drain');
    await gateway.untilCondition('during-the-drain', 'Programmed', 'True/Programmed');
    expect(await leaving?.exited()).toBe(0);
    const ms = Math.round(performance.now() - started);
    const before = load.requests;
    await eventually('requests continue', () => load.requests > before + 100);

    await load.stop();
    console.info(`drain: ended after ${String(ms)} ms, ${String(load.requests)} requests`);
    expect(load.failures).toEqual([]);
    await eventually('the settings do not count the proxy', async () => {
      const { status } = await gateway.settings();
      return status?.proxies?.connected === 2;
    });
    leaving?.start();
    await gateway.untilServed('first');
    await gateway.untilCondition('first', 'Programmed', 'True/Programmed');
  });
});

// Both wait until a proxy that is gone stops counting. They wait at the same time, each in its own world.
describe('proxies that are gone', () => {
  test.concurrent(
    'are named in the status of a route that one of them rejects, and the others serve it',
    async () => {
      await using world = await startWorld(2);
      const { gateway } = world;
      await gateway.applyRoute('refused', { prefix: '/old' });
      await gateway.untilCondition('refused', 'Programmed', 'True/Programmed');
      const key = `route/${TEAM}/refused`;
      const accepted = await gateway.proxies[0]?.hashOf(key);
      const probe = await gateway.connectProbe('gatehouse-proxy-strict', {
        answer: ({ snapshot }) => {
          if (snapshot.resources.get(key)?.hash === accepted) return 'ack';
          const message = 'of another release';
          return [
            { key, reason: 'InvalidResource', message, ...(accepted && { servedHash: accepted }) },
          ];
        },
      });
      await eventually('the probe has a snapshot', () => probe.serving !== undefined);
      await gateway.applyRoute('refused', { prefix: '/new' });
      const ms = await gateway.untilCondition('refused', 'Programmed', 'False/Rejected');
      console.info(`nack: reported in the status after ${String(ms)} ms`);
      expect(await programmedMessage(gateway, 'refused')).toContain('gatehouse-proxy-strict');
      expect(await programmedMessage(gateway, 'refused')).toContain('of another release');
      await gateway.applyRoute('besides');
      await gateway.untilServed('besides');
      await gateway.untilCondition('besides', 'Programmed', 'True/Programmed');
      expect(await areServing(gateway.proxies, 'refused', '/new')).toBe(true);
      await eventually(
        'the probe has the new route, and its last good version of the rejected one',
        () => {
          const resources = probe.serving?.snapshot.resources;
          const isNew = resources?.has(`route/${TEAM}/besides`) === true;
          return isNew && resources.get(key)?.hash === accepted;
        },
      );
      expect(await gateway.condition('refused', 'Programmed')).toBe('False/Rejected');
      await eventually('the settings count the probe', async () => {
        const { status } = await gateway.settings();
        return status?.proxies?.connected === 3;
      });

      await probe[Symbol.asyncDispose]();
      await gateway.untilCondition(...(['refused', 'Programmed', 'True/Programmed'] as const));
      expect(await areServing(gateway.proxies, 'refused', '/new')).toBe(true);
    },
  );

  test.concurrent('delay Programmed only for a short time after they were killed', async () => {
    await using world = await startWorld(3);
    const { gateway } = world;
    await eventually('all proxies are counted', async () => {
      const { status } = await gateway.settings();
      return status?.proxies?.synced === 3;
    });
    const [killed, ...others] = gateway.proxies;
    await killed?.kill();
    await gateway.applyRoute('after-the-kill');

    const served = await gateway.untilServed('after-the-kill', { proxies: others });
    await gateway.untilCondition('after-the-kill', 'Programmed', 'False/Pending');
    expect(await programmedMessage(gateway, 'after-the-kill')).toContain('2 of 3');
    const programmed = await gateway.untilCondition(
      ...(['after-the-kill', 'Programmed', 'True/Programmed'] as const),
    );
    console.info(
      `proxy killed: others served a new Route after ${String(served)} ms, Programmed ${String(programmed)} ms later`,
    );
    await eventually('the settings do not count the proxy', async () => {
      const { status } = await gateway.settings();
      return status?.proxies?.connected === 2;
    });
  });
});

async function startWorld(proxies: number): Promise<ClusterWorld> {
  const world = await startClusterWorld(startFakeCluster, {
    controllers: 1,
    proxies,
    controllerFlags: ['--deletion-delay', '0s'],
    proxyFlags: ['--drain-delay', '3s'],
  });
  await world.gateway.untilCondition('first', 'Programmed', 'True/Programmed');
  return world;
}

async function programmedMessage(gateway: ClusterGateway, route: string): Promise<string> {
  const { conditions = [] } = (await gateway.route(route)).status ?? {};
  return conditions.find(({ type }) => type === 'Programmed')?.message ?? '';
}

function isApplied({ message }: Readonly<Record<string, unknown>>): boolean {
  return message === 'configuration applied';
}

/** Whether all these proxies serve a route at that path, and nowhere else. */
async function areServing(
  proxies: readonly ProxyMember[],
  route: string,
  path: string,
): Promise<boolean> {
  const statuses = proxies.map(async (proxy) => [
    await proxy.status(hostOf(route), path),
    await proxy.status(hostOf(route), '/'),
  ]);
  return (await Promise.all(statuses)).every(([at, elsewhere]) => at === 200 && elsewhere === 404);
}

/** Behaves like a Service of Kubernetes: new connections go to proxies that are ready. */
async function startReadyService(
  proxies: readonly ProxyMember[],
): Promise<AsyncDisposable & { readonly port: number }> {
  let ready: readonly number[] = [];
  let isStopped = false;
  const look = async (): Promise<void> => {
    const found = proxies.map(async (proxy) => {
      const { status } = await proxy.admin('/readyz').catch(() => ({ status: 0 }));
      return status === 200 ? [await proxy.port()] : [];
    });
    ready = (await Promise.all(found)).flat();
  };
  const looking = async (): Promise<void> => {
    while (!isStopped) {
      await look();
      await wait(100);
    }
  };
  await look();
  const done = looking();
  const service = await startTcpService(() => ready);
  return {
    port: service.port,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await done;
      await service[Symbol.asyncDispose]();
    },
  };
}

interface KeptAliveLoad extends AsyncDisposable {
  readonly requests: number;
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

const CONNECTIONS = 12;

/** Sends requests one after another on connections that last as long as the server keeps them. */
function startKeptAliveLoad(port: number, host: string): KeptAliveLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures: string[] = [];
  let requests = 0;
  let isStopped = false;
  const ask = async (): Promise<void> => {
    const outgoing = request({ host: '127.0.0.1', port, agent, headers: { host } }).end();
    // Node emits `response` with the message as its only argument.
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    if (response.statusCode !== 200) failures.push(String(response.statusCode));
  };
  const loops = Array.from({ length: CONNECTIONS }, async () => {
    while (!isStopped) {
      requests += 1;
      await ask().catch((error: unknown) => failures.push(String(error)));
      await wait(10);
    }
  });
  const stop = async (): Promise<void> => {
    isStopped = true;
    await Promise.all(loops);
    agent.destroy();
  };
  return {
    get requests() {
      return requests;
    },
    failures,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
