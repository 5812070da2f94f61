import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { createMovedClock } from '../support/redis/moved-clock.ts';

const SECOND = 1000;
const SKEW_SECONDS = 600;
/** The product promises 20 s, and the test prints the time; a machine that runs all tests is slower. */
const FAILOVER_MS = 40 * SECOND;
/** Time in which a controller looks at the Lease several times. */
const SEVERAL_LOOKS_MS = 6 * SECOND;

describe('a controller whose clock is wrong', () => {
  test('can lead, and never leads beside another controller', async () => {
    await using opened = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-clock-'));
    opened.defer(() => rm(directory, { recursive: true }));
    const clock = createMovedClock(directory);
    clock.advance(SKEW_SECONDS);
    const { gateway } = opened.use(
      await startClusterWorld(startFakeCluster, {
        controllers: 2,
        proxies: 1,
        controllerVariables: [clock.environment],
      }),
    );
    const [skewed, right] = gateway.controllers;
    if (skewed === undefined || right === undefined)
      throw new Error('there are not two controllers');
    const leader = await gateway.leader();
    const follower = leader === skewed ? right : skewed;

    await wait(SEVERAL_LOOKS_MS);
    expect(follower.epochs).toEqual([]);
    await leader.kill();
    await gateway.applyRoute('second');
    const first = await gateway.untilServed('second', { deadlineMs: FAILOVER_MS });
    leader.start();
    await leader.logged('listening');
    await wait(SEVERAL_LOOKS_MS);
    expect(await gateway.leader()).toBe(follower);
    await follower.kill();
    await gateway.applyRoute('third');
    const second = await gateway.untilServed('third', { deadlineMs: FAILOVER_MS });

    console.info(
      `clocks ten minutes apart: a new Route served after ${String(first)} and ${String(second)} ms`,
    );
    expect(await gateway.leader()).toBe(leader);
    const epochs = gateway.controllers.flatMap((controller) => controller.epochs);
    expect(epochs.toSorted((one, other) => one - other)).toEqual([
      ...new Set(epochs.toSorted((one, other) => one - other)),
    ]);
    expect(epochs).toHaveLength(3);
    await eventually('the leader writes status', async () => {
      return (await gateway.condition('third', 'Programmed')) === 'True/Programmed';
    });
  });
});
