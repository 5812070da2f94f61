import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import {
  startClusterWorld,
  type ClusterWorld,
  type ClusterWorldOptions,
} from '../support/kubernetes/cluster-world.ts';
import type { ClusterFaults } from '../support/kubernetes/cluster.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { hostOf } from '../support/kubernetes/gateway-manifests.ts';
import { expectNoStepBack, watchPositions } from '../support/kubernetes/position-watch.ts';
import type { ProxyMember } from '../support/kubernetes/proxy-member.ts';
import { startSteadyLoad } from '../support/kubernetes/steady-load.ts';
import { createMovedClock } from '../support/redis/moved-clock.ts';

const SECOND = 1000;
/** Longer than a Lease is valid after its holder is gone. */
const AWAY_MS = 30 * SECOND;
const SKEW_SECONDS = 600;
const SEVERAL_READS = 2;

// Each waits for a Lease to expire, once or twice. They wait at the same time, each in its own world.
describe('a fault that lasts longer than a Lease', () => {
  test.concurrent(
    'all controllers are away: proxies serve, restart and start, and a new controller continues',
    async () => {
      await using world = await startWorld({ controllers: 2, proxies: 3 });
      const { gateway } = world;
      const [restarting, ...others] = gateway.proxies;
      await using load = startSteadyLoad(others, hostOf('first'));
      await using watch = watchPositions(others);
      const leader = await gateway.leader();
      const { leaseTransitions: epoch } = await gateway.lease();
      await Promise.all(gateway.controllers.map((controller) => controller.kill()));
      const restarted = await restart(restarting);
      const started = await untilUp(gateway, await gateway.addProxy());
      await gateway.applyRoute('second');
      // A restart in place: the pod keeps its name.
      leader.start();
      await leader.logged('listening');

      const ms = await gateway.untilServed('second');
      const { requests, failures } = await load.stop();
      console.info(
        `no controller: a proxy restarted within ${String(restarted)} ms, another started from Redis within ${String(started)} ms, a new Route served ${String(ms)} ms after a controller started, ${String(requests)} requests`,
      );
      expect(failures).toEqual([]);
      expectNoStepBack(await watch.stop());
      expect((await gateway.lease()).leaseTransitions).toBe(epoch + 1);
      await gateway.untilCondition('second', 'Programmed', 'True/Programmed');
    },
  );

  test.concurrent(
    'the API server is away for half a minute: requests are served, and changes follow once it is back',
    async () => {
      await using world = await startWorld({ controllers: 2, proxies: 3 });
      const { cluster, gateway } = world;
      const [restarting, ...others] = gateway.proxies;
      await using load = startSteadyLoad(others, hostOf('first'));
      await cluster.faults.goAway();
      const goneAt = performance.now();
      const isOver = (): boolean => performance.now() - goneAt > AWAY_MS;

      // Once while the leader still leads, and once when no controller leads.
      const early = await restart(restarting);
      await eventually('no controller leads', () =>
        gateway.controllers.some((controller) => controller.hasLogged('leadership lost')),
      );
      const late = await restart(restarting);
      await eventually('the API server was away long enough', isOver);
      await cluster.faults.heal();
      await gateway.applyRoute('after-it-was-away');
      const ms = await gateway.untilServed('after-it-was-away');

      const { requests, failures } = await load.stop();
      console.info(
        `API server away for half a minute: ${String(requests)} requests, proxies restarted within ${String(early)} and ${String(late)} ms, a new Route served ${String(ms)} ms after it`,
      );
      expect(failures).toEqual([]);
      await gateway.untilCondition('after-it-was-away', 'Programmed', 'True/Programmed');
    },
  );

  test.concurrent(
    'a controller whose clock is wrong can lead, and never leads beside another controller',
    async () => {
      await using opened = new AsyncDisposableStack();
      const directory = await mkdtemp(join(tmpdir(), 'gatehouse-clock-'));
      opened.defer(() => rm(directory, { recursive: true }));
      const clock = createMovedClock(directory);
      clock.advance(SKEW_SECONDS);
      const { cluster, gateway } = opened.use(
        await startWorld({ controllers: 2, proxies: 1, controllerVariables: [clock.environment] }),
      );
      const leader = await gateway.leader();
      const [follower] = await gateway.followers();
      if (follower === undefined) throw new Error('there are not two controllers');

      await untilLeaseIsRead(cluster.faults);
      expect(follower.epochs).toEqual([]);
      await leader.kill();
      await gateway.applyRoute('second');
      const first = await gateway.untilServed('second');
      leader.start();
      await leader.logged('listening');
      await untilLeaseIsRead(cluster.faults);
      expect(await gateway.leader()).toBe(follower);
      await follower.kill();
      await gateway.applyRoute('third');
      const second = await gateway.untilServed('third');

      console.info(
        `clocks ten minutes apart: a new Route served after ${String(first)} and ${String(second)} ms`,
      );
      expect(await gateway.leader()).toBe(leader);
      const epochs = gateway.controllers.flatMap((controller) => controller.epochs);
      expect(new Set(epochs).size).toBe(epochs.length);
      expect(epochs).toHaveLength(3);
      await gateway.untilCondition('third', 'Programmed', 'True/Programmed');
    },
  );
});

async function startWorld(options: ClusterWorldOptions): Promise<ClusterWorld> {
  const controllerFlags = ['--deletion-delay', '0s'];
  const world = await startClusterWorld(startFakeCluster, { controllerFlags, ...options });
  await world.gateway.untilCondition('first', 'Programmed', 'True/Programmed');
  return world;
}

/** Waits until a candidate has read the Lease several times. */
async function untilLeaseIsRead({ requests }: ClusterFaults): Promise<void> {
  const { length: before } = requests;
  const isRead = ({ user, verb, resource }: (typeof requests)[number]): boolean =>
    user !== 'admin' && verb === 'get' && resource === 'leases';
  await eventually('the Lease is read several times', () => {
    return requests.slice(before).filter(isRead).length >= SEVERAL_READS;
  });
}

/** Kills a proxy, starts it again, and returns the milliseconds until it serves from its cache. */
async function restart(proxy: ProxyMember | undefined): Promise<number> {
  await proxy?.kill();
  proxy?.start();
  return eventually(
    'the proxy serves from its cache',
    async () => (await proxy?.status(hostOf('first'))) === 200,
  );
}

function untilUp(gateway: ClusterGateway, proxy: ProxyMember): Promise<number> {
  return gateway.untilServed('first', { proxies: [proxy] });
}
