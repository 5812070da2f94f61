import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import { Serving } from '../../../../proxy/push/serving.ts';
import { LastGood } from '../../../../proxy/push/last-good/last-good.ts';
import type { SnapshotDifference } from '../../../../proxy/configuration/snapshot-changes.ts';
import type { PlacedSnapshot } from '../../../../proxy/store/snapshot/snapshot-keeper.ts';
import type { Snapshot, SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import { aCompiledRoute, aResource, aSnapshot } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { startGateway } from '../../../support/gateway.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';

const SETTINGS = compiledSettings();

/** More routes than one time slice is enough for. */
const MANY = 5000;

interface TestServing extends AsyncDisposable {
  readonly serving: Serving;
  /** Version of the snapshot that requests are served by. */
  version(): string | undefined;
}

async function startServing(): Promise<TestServing> {
  const under = await startGateway();
  const { gateway } = under;
  const logger = createRecordingLogger();
  const lastGood = new LastGood({}, { logger });
  const listen = [{ host: '127.0.0.1', port: 0 }];
  const serving = new Serving({ gateway, lastGood, listen, logger });
  return {
    serving,
    version: () => gateway.version(),
    async [Symbol.asyncDispose]() {
      await serving.stop();
      await under[Symbol.asyncDispose]();
    },
  };
}

/** A snapshot of routes, each with its own host, and all to one upstream. */
function routes(count: number, upstream = 'http://app.internal'): Snapshot {
  const each = Array.from({ length: count }, (_, index) => {
    const name = `team/r${String(index)}`;
    const path = { kind: 'regex', value: `/${String(index)}/(a|b)+` } as const;
    return aCompiledRoute({ name, host: `r${String(index)}.example.com`, path, upstream });
  });
  return aSnapshot(SETTINGS, ...each);
}

function placed(snapshot: Snapshot, sequence: number): PlacedSnapshot {
  return { position: { epoch: 1, sequence }, snapshot };
}

/** Counts how often a resource is read. */
class CountedResources extends Map<string, SnapshotResource> {
  looks = 0;

  override get(key: string): SnapshotResource | undefined {
    this.looks += 1;
    return super.get(key);
  }

  override has(key: string): boolean {
    this.looks += 1;
    return super.has(key);
  }

  override *entries(): MapIterator<[string, SnapshotResource]> {
    for (const entry of super.entries()) {
      this.looks += 1;
      yield entry;
    }
  }

  override *values(): MapIterator<SnapshotResource> {
    for (const [, resource] of this.entries()) yield resource;
  }

  override *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  override [Symbol.iterator](): MapIterator<[string, SnapshotResource]> {
    return this.entries();
  }
}

/** Serves a number of routes, then changes one. Returns how many resources are read for that. */
async function looksForOneChange(count: number, isKnown: boolean): Promise<number> {
  await using under = await startServing();
  const before = new CountedResources(routes(count).resources);
  const since = { version: 'before', resources: before };
  expect(await under.serving.apply(placed(since, 1))).toEqual([]);

  const changed = aResource(aCompiledRoute({ name: 'team/r1', host: 'moved.example.com' }));
  const after = new CountedResources(before).set(changed.key, changed);
  const changes = [{ before: routes(2).resources.get(changed.key), after: changed }];
  const difference: SnapshotDifference | undefined = isKnown ? { since, changes } : undefined;
  [before.looks, after.looks] = [0, 0];
  const next = placed({ version: 'after', resources: after }, 2);
  expect(await under.serving.apply(next, difference)).toEqual([]);
  expect(under.version()).toBe('after');
  return before.looks + after.looks;
}

describe('a change of one resource', () => {
  test('reads no other resource, however many there are', async () => {
    expect(await looksForOneChange(10, true)).toBe(0);
    expect(await looksForOneChange(300, true)).toBe(0);
  });

  test('is found by comparing snapshots if it is not known', async () => {
    expect(await looksForOneChange(300, false)).toBeGreaterThan(300);
  });

  test('is found by comparing snapshots if it is relative to a different snapshot', async () => {
    await using under = await startServing();
    await under.serving.apply(placed(routes(1), 1));
    const bad = aCompiledRoute({ name: 'team/bad', path: { kind: 'regex', value: '(' } });
    const next = placed(aSnapshot(SETTINGS, bad), 2);
    const ofAnother = { since: undefined, changes: [] };
    expect(await under.serving.apply(next, ofAnother)).toMatchObject([{ key: 'route/team/bad' }]);
  });
});

describe('a snapshot of many resources', () => {
  test('is applied in slices, and the one before serves until all of it does', async () => {
    await using under = await startServing();
    const [before, after] = [routes(1), routes(MANY, 'http://other.internal')];
    await under.serving.apply(placed(before, 1));

    const progress = { isDone: false };
    const applied = under.serving.apply(placed(after, 2)).finally(() => (progress.isDone = true));
    const seen: (string | undefined)[] = [];
    while (!progress.isDone) {
      seen.push(under.version());
      expect(under.serving.snapshot()?.version).toBe(under.version());
      await nextTurn();
    }
    expect(await applied).toEqual([]);
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set([before.version]));
    expect(under.version()).toBe(after.version);
  });

  test('changes nothing if one of them cannot be served', async () => {
    await using under = await startServing();
    const before = routes(1);
    await under.serving.apply(placed(before, 1));
    const path = { kind: 'regex', value: '(' } as const;
    const bad = aResource(aCompiledRoute({ name: 'team/zz', path }));
    const resources = new Map(routes(MANY).resources).set(bad.key, bad);

    expect(await under.serving.apply(placed({ version: 'bad', resources }, 2))).toMatchObject([
      { key: 'route/team/zz' },
    ]);
    expect(under.version()).toBe(before.version);
    expect(under.serving.served?.position.sequence).toBe(1);
  });

  test('serves before one that arrives while it is applied', async () => {
    await using under = await startServing();
    const [first, second] = [routes(MANY), routes(1)];
    const both = [under.serving.apply(placed(first, 1)), under.serving.apply(placed(second, 2))];
    await both[0];
    expect(under.serving.served?.position.sequence).toBe(1);
    await both[1];
    expect(under.serving.served?.position.sequence).toBe(2);
    expect(under.version()).toBe(second.version);
  });

  test('opens no port if the process ends meanwhile', async () => {
    await using under = await startServing();
    let isListening = false;
    void under.serving.listening.then(() => (isListening = true));
    const applied = under.serving.apply(placed(routes(MANY), 1));
    await under.serving.stop();
    expect(await applied).toEqual([]);
    await under.serving.stop();
    expect(isListening).toBe(false);
  });
});

describe('a last good snapshot', () => {
  test('is served if no other is', async () => {
    await using under = await startServing();
    const kept = routes(1);
    expect(await under.serving.serveLastGood(placed(kept, 1))).toBe(true);
    expect(under.version()).toBe(kept.version);
  });

  test('does not replace a snapshot that was being applied when it was found', async () => {
    await using under = await startServing();
    const pushed = routes(MANY);
    const applied = under.serving.apply(placed(pushed, 2));
    expect(await under.serving.serveLastGood(placed(routes(1), 1))).toBe(false);
    expect(await applied).toEqual([]);
    expect(under.version()).toBe(pushed.version);
  });
});
