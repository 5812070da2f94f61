import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import type { ControllerMember } from '../support/kubernetes/controller-member.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf } from '../support/kubernetes/gateway-manifests.ts';
import { expectNoStepBack, watchPositions } from '../support/kubernetes/position-watch.ts';
import { startSteadyLoad } from '../support/kubernetes/steady-load.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const SECOND = 1000;
/** The product promises 20 s, and the test prints the time. A busy machine gets as much again. */
const FAILOVER_MS = 40 * SECOND;
const PROXIES = 3;

describeEndToEnd('real', ['rbac', 'tokens'], 'controllers that come and go', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;
  let other: Upstream;

  beforeAll(async () => {
    other = opened.use(await startUpstream((_message, response) => response.end('other')));
    ({ gateway } = opened.use(
      await startClusterWorld(openCluster, {
        controllers: 2,
        proxies: PROXIES,
        controllerFlags: ['--deletion-delay', '0s'],
      }),
    ));
    await gateway.untilCondition('first', 'Programmed', 'True/Programmed');
  });
  beforeEach(async () => {
    for (const proxy of gateway.proxies.slice(PROXIES)) await gateway.dropProxy(proxy);
    await startMissing();
  });
  afterAll(() => opened.disposeAsync());

  describe('the leader, killed after an invalid update', () => {
    beforeAll(async () => {
      await gateway.applyRoute('kept');
      await gateway.untilCondition('kept', 'Programmed', 'True/Programmed');
      await gateway.applyRoute('kept', { regex: '(?=a)$' });
      await gateway.untilCondition('kept', 'PartiallyInvalid', 'True/ServedGeneration');
    });

    test('is replaced within the deadline, and no request fails', async () => {
      await using load = startSteadyLoad(gateway.proxies, hostOf('first'));
      await using watch = watchPositions(gateway.proxies);
      const epoch = await epochNow();
      await (await gateway.leader()).kill();
      await gateway.applyRoute('second');

      const ms = await gateway.untilServed('second', { deadlineMs: FAILOVER_MS });
      const { requests, failures } = await load.stop();
      console.info(
        `leader killed: a new Route served after ${String(ms)} ms, ${String(requests)} requests`,
      );
      expect(failures).toEqual([]);
      expectNoStepBack(await watch.stop());
      expect(await epochNow()).toBeGreaterThan(epoch);
      await gateway.untilCondition('second', 'Programmed', 'True/Programmed');
    });

    test('is replaced by one that serves the last good version, also from a proxy that starts later', async () => {
      expect(await gateway.statuses('kept')).toEqual([200, 200, 200]);
      expect(await gateway.condition('kept', 'PartiallyInvalid')).toBe('True/ServedGeneration');
      expect((await gateway.route('kept')).status?.served).toMatchObject({ generation: 1 });

      const proxy = await gateway.addProxy();
      await untilFollowing([proxy]);
      await gateway.untilServed('kept', { proxies: [proxy] });
    });
  });

  test('are replaced at once if the leader gets SIGTERM', async () => {
    await using load = startSteadyLoad(gateway.proxies, hostOf('first'));
    const leader = await gateway.leader();
    expect(await leader.terminate()).toBe(0);
    await gateway.applyRoute('third');

    const ms = await gateway.untilServed('third');
    console.info(`leader ended by SIGTERM: a new Route served after ${String(ms)} ms`);
    expect((await load.stop()).failures).toEqual([]);
  });

  test('ignore a paused leader when it wakes up', async () => {
    await gateway.applyRoute('moved');
    await gateway.untilCondition('moved', 'Programmed', 'True/Programmed');
    const paused = await gateway.leader();
    const [next] = await gateway.followers();
    const epoch = await epochNow();
    // Proxies leave a silent leader; this probe stays, and would accept what the leader sends.
    await using probe = await gateway.connectProbe('gatehouse-probe');
    await eventually('the probe has a snapshot', () => probe.serving !== undefined);
    paused.pause();
    await gateway.applyRoute('moved', { to: other.origin });
    await gateway.applyRoute('during-the-pause');
    const ms = await gateway.untilServed('during-the-pause');
    await untilFollowing(gateway.proxies);
    await using watch = watchPositions(gateway.proxies);
    const { length: framesBefore } = probe.frames;
    paused.resume();

    await eventually('the paused leader resigns', () => paused.hasLogged('leadership lost'));
    await gateway.applyRoute('after-the-pause');
    await gateway.untilServed('after-the-pause');
    await gateway.untilCondition('after-the-pause', 'Programmed', 'True/Programmed');
    console.info(`leader paused: a new Route served after ${String(ms)} ms`);
    expect(probe.frames.slice(framesBefore)).toEqual([]);
    await eventually('the paused leader drops the probe', () => probe.isDisconnected);
    expect(probe.frames).toHaveLength(framesBefore);
    expectNoStepBack(await watch.stop());
    expect(await bodies('moved')).toEqual(['other', 'other', 'other']);
    expect(await gateway.statuses('during-the-pause')).toEqual([200, 200, 200]);
    expect(await epochNow()).toBeGreaterThan(epoch);
    expect(await gateway.leader()).toBe(next);
  });

  test('that all restart while there are no settings restore what was last good once settings are back', async () => {
    await gateway.applyRoute('remembered');
    await gateway.untilCondition('remembered', 'Programmed', 'True/Programmed');
    await gateway.applyRoute('remembered', { regex: '(?=a)$' });
    await gateway.untilCondition('remembered', 'PartiallyInvalid', 'True/ServedGeneration');
    await gateway.deleteSettings();
    await eventually('no route serves', async () => {
      const { status } = await gateway.route('remembered');
      return status?.configHash === undefined;
    });
    expect((await gateway.route('remembered')).status).toMatchObject({
      url: 'http://remembered.example.test',
      served: { generation: 1 },
    });

    await Promise.all(gateway.controllers.map((controller) => controller.terminate()));
    await startMissing();
    await gateway.createSettings({});

    await gateway.untilServed('remembered');
    await gateway.untilCondition('remembered', 'PartiallyInvalid', 'True/ServedGeneration');
  });

  test('create a deleted Lease again with an epoch above the one of the proxies', async () => {
    const epoch = await epochNow();
    await using watch = watchPositions(gateway.proxies);
    await gateway.deleteLease();
    await gateway.applyRoute('fifth');

    const ms = await gateway.untilServed('fifth');
    console.info(`Lease deleted: a new Route served after ${String(ms)} ms`);
    await eventually('the Lease is created again', async () => (await epochNow()) > epoch);
    await untilFollowing(gateway.proxies);
    expectNoStepBack(await watch.stop());
  });

  test('raise the epoch above the one of the proxies if the Lease was deleted while none ran', async () => {
    const epoch = await epochNow();
    await using watch = watchPositions(gateway.proxies);
    await Promise.all(gateway.controllers.map((controller) => controller.kill()));
    await gateway.deleteLease();
    await gateway.applyRoute('sixth');
    await startMissing();

    const ms = await gateway.untilServed('sixth');
    console.info(`Lease deleted, controllers started: a new Route served after ${String(ms)} ms`);
    expect(await epochNow()).toBeGreaterThan(epoch);
    await untilFollowing(gateway.proxies);
    expectNoStepBack(await watch.stop());
  });

  test('write nothing but JSON to their logs', () => {
    const members = [...gateway.controllers, ...gateway.proxies];
    expect(members.map(({ stderr }) => stderr).join('')).toBe('');
  });

  async function epochNow(): Promise<number> {
    try {
      return (await gateway.lease()).leaseTransitions;
    } catch {
      // There is no Lease.
      return 0;
    }
  }

  /** Waits until the proxies serve what the present leader published. */
  async function untilFollowing(proxies: ClusterGateway['proxies']): Promise<void> {
    await eventually('the proxies serve a snapshot of the leader', async () => {
      const epoch = String(await epochNow());
      const served = await Promise.all(proxies.map((proxy) => proxy.served()));
      return served.every(({ position }) => position?.split('.')[0] === epoch);
    });
  }

  async function bodies(route: string): Promise<readonly string[]> {
    const answers = gateway.proxies.map((proxy) => proxy.ask(hostOf(route)));
    return (await Promise.all(answers)).map(({ body }) => body);
  }

  /** Starts the controllers that do not run, and waits until they listen. */
  async function startMissing(): Promise<void> {
    const missing = gateway.controllers.filter(({ isRunning }) => !isRunning);
    for (const controller of missing) controller.start();
    await Promise.all(
      missing.map((controller: ControllerMember) => controller.logged('listening')),
    );
  }
});
