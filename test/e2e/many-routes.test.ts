import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually, HANG_GUARD_MS } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf, TEAM } from '../support/kubernetes/gateway-manifests.ts';
import { routesIn } from '../support/kubernetes/paths.ts';

const SECOND = 1000;
/** A busy API server takes long to delete and create many Routes. */
const DELETION_DELAY_MS = 15 * SECOND;

const LOOK_MS = 300;

const MANY = 500;
const MOST = 0.7 * MANY;
const NAMES = Array.from({ length: MANY }, (_, index) => `many-${String(index)}`);

describeEndToEnd('fake', ['rbac', 'tokens'], 'many routes of a cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ gateway } = opened.use(
      await startClusterWorld(openCluster, {
        controllers: 1,
        proxies: 2,
        controllerFlags: ['--deletion-delay', `${String(DELETION_DELAY_MS / SECOND)}s`],
      }),
    ));
  });
  afterAll(() => opened.disposeAsync());

  test('that include a bad one report that one, and serve the others', async () => {
    const names = [...NAMES, ...NAMES.map((name) => `more-${name}`)].slice(1);
    const started = performance.now();
    await inParallel(names, (name) => gateway.applyRoute(name));
    await eventually(
      'all are programmed',
      async () => (await countProgrammed()) === names.length + 1,
    );
    const programmed = Math.round(performance.now() - started);
    const before = await gateway.proxies[0]?.served();
    await gateway.applyRoute('bad', {
      from: `https://${hostOf('bad')}`,
      allowPublicUnauthenticatedAccess: false,
      policy: { allow: { or: [{ emial: 'alice@example.com' }] } },
    });

    const named = await gateway.untilCondition('bad', 'Accepted', 'False/InvalidPolicy');
    console.info(
      `1,000 Routes programmed ${String(programmed)} ms after the first was written; a bad one among them named after ${String(named)} ms`,
    );
    expect(await gateway.proxies[0]?.served()).toEqual(before);
    expect(await countProgrammed()).toBe(names.length + 1);
    expect(await statusesOf(names)).toEqual(new Set([200]));
    await inParallel(names.slice(MANY - 1), (name) => gateway.deleteRoute(name));
    await gateway.deleteRoute('bad');
    await eventually('half of the routes are left', async () => (await servedRoutes()) === MANY);
  });

  test('that are all deleted at once serve for the deletion delay, which the status reports', async () => {
    expect(await servedRoutes()).toBe(MANY);
    await gateway.admin.request('DELETE', routesIn(TEAM));

    await gateway.untilSettingsCondition('Programmed', 'False/HeldBack');
    // The first deletions are reported while the API server still works on the others.
    await eventually('the status says that none is left', async () =>
      / 0 of \d+ routes are left/.test((await settingsMessage()) ?? ''),
    );
    // The first deletions may be published before they count as many.
    expect(await servedRoutes()).toBeGreaterThan(MOST);
    const ms = await eventually(
      'the deletion is published',
      async () => (await servedRoutes()) === 0,
      DELETION_DELAY_MS + HANG_GUARD_MS,
    );
    console.info(`${String(MANY)} Routes deleted at once: gone ${String(ms)} ms after`);
    await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
  });

  test('that are deleted by mistake and created again serve all the time', async () => {
    await inParallel(NAMES, (name) => gateway.applyRoute(name));
    await eventually('all routes are served', async () => (await servedRoutes()) === MANY);
    await gateway.admin.request('DELETE', routesIn(TEAM));
    await gateway.untilSettingsCondition('Programmed', 'False/HeldBack');
    const counts: number[] = [];
    await inParallel(NAMES, async (name) => {
      await gateway.applyRoute(name);
      counts.push(await servedRoutes());
    });

    await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
    await eventually('all routes are programmed', async () => (await countProgrammed()) === MANY);
    expect(Math.min(...counts)).toBeGreaterThan(MOST);
    expect(await servedRoutes()).toBe(MANY);
  });

  /** Message of the settings about what is programmed. */
  async function settingsMessage(): Promise<string | undefined> {
    const { conditions = [] } = (await gateway.settings()).status ?? {};
    return conditions.find(({ type }) => type === 'Programmed')?.message;
  }

  /** Number of routes that the first proxy serves. */
  async function servedRoutes(): Promise<number> {
    const { resources = [] } = (await gateway.proxies[0]?.served()) ?? {};
    return resources.filter(({ key }) => key.startsWith('route/')).length;
  }

  async function countProgrammed(): Promise<number> {
    // Polling without a pause would keep the API server from its work.
    await wait(LOOK_MS);
    const { items } = (await gateway.admin.request('GET', routesIn(TEAM))) as {
      readonly items: readonly Awaited<ReturnType<ClusterGateway['route']>>[];
    };
    return items.filter(({ status }) =>
      status?.conditions?.some(
        ({ type, status: state }) => type === 'Programmed' && state === 'True',
      ),
    ).length;
  }

  async function statusesOf(names: readonly string[]): Promise<ReadonlySet<number>> {
    const statuses = new Set<number>();
    await inParallel(names, async (name) => {
      statuses.add((await gateway.proxies[1]?.status(hostOf(name))) ?? 0);
    });
    return statuses;
  }
});

const AT_A_TIME = 16;

async function inParallel(
  names: readonly string[],
  work: (name: string) => Promise<void>,
): Promise<void> {
  const rest = names.values();
  const workers = Array.from({ length: AT_A_TIME }, async () => {
    for (const name of rest) await work(name);
  });
  await Promise.all(workers);
}
