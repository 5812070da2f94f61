import { describe, expect, test } from '@jest/globals';

import { ProtocolError } from '../../../../../proxy/push/connection/protocol-error.ts';
import {
  SnapshotReceiver,
  type ApplySnapshot,
  type SnapshotFrame,
} from '../../../../../proxy/push/staging/snapshot-receiver.ts';
import type { PlacedSnapshot } from '../../../../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import {
  LONGEST_PROXY_LINE_BYTES,
  type ControllerFrame,
  type RejectedEntry,
  type ProxyFrame,
} from '../../../../../shared/snapshot/push-frames.ts';
import type { RejectedResource } from '../../../../../shared/snapshot/rejected-resource.ts';
import type { Snapshot, SnapshotResource } from '../../../../../shared/snapshot/snapshot.ts';
import { aCompiledService } from '../../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { deltaFrames, fullFrames } from '../../../../support/push/frames.ts';
import { aCompiledRoute, resourcesOf } from '../../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

const FIRST = { epoch: 3, sequence: 5 };
const RESOURCES = resourcesOf(
  compiledSettings(),
  aCompiledRoute('team/a'),
  aCompiledRoute('team/b'),
  aCompiledService(),
);
const SNAPSHOT = snapshotOf(RESOURCES);
const SERVING: PlacedSnapshot = { position: FIRST, snapshot: SNAPSHOT };
const HASH = '0'.repeat(64);

interface Receiving {
  readonly receiver: SnapshotReceiver;
  readonly applied: readonly PlacedSnapshot[];
}

function receiving(
  serving?: PlacedSnapshot,
  refuse?: (placed: PlacedSnapshot) => readonly RejectedResource[],
): Receiving {
  const applied: PlacedSnapshot[] = [];
  const apply: ApplySnapshot = (placed) => {
    const refused = refuse?.(placed) ?? [];
    if (refused.length > 0) return refused;
    applied.push(placed);
    return [];
  };
  return {
    receiver: new SnapshotReceiver(serving, { apply, logger: createRecordingLogger() }),
    applied,
  };
}

/** Hands over frames as they come over the wire, and returns the answer. */
async function take(
  { receiver }: Receiving,
  frames: readonly ControllerFrame[],
): Promise<ProxyFrame | undefined> {
  let answer: ProxyFrame | undefined;
  for (const frame of frames) {
    const line = JSON.stringify(frame);
    // Frames of snapshots alone.
    answer = await receiver.receive(JSON.parse(line) as SnapshotFrame, line.length);
  }
  return answer;
}

async function errorsOf(
  under: Receiving,
  frames: readonly ControllerFrame[],
): Promise<readonly RejectedEntry[]> {
  const answer = await take(under, frames);
  if (answer?.t !== 'nack') throw new Error(`not refused: ${JSON.stringify(answer)}`);
  return answer.rejected;
}

/** The snapshot with one route changed. */
function changed(upstream = 'http://other.internal'): readonly SnapshotResource[] {
  const [route] = resourcesOf(aCompiledRoute('team/a', { upstream }));
  return RESOURCES.map((each) => (each.key === route?.key ? route : each));
}

describe('the position of a snapshot', () => {
  test.each([
    ['later in the epoch', { epoch: 3, sequence: 6 }],
    ['of a later epoch', { epoch: 4, sequence: 1 }],
  ])('is accepted if it is %s', async (_what, position) => {
    const under = receiving(SERVING);

    expect(await take(under, fullFrames(position, changed()))).toMatchObject({ t: 'ack' });
    expect(under.receiver.serving?.position).toEqual(position);
  });

  test.each([
    ['the same', FIRST],
    ['before it in the epoch', { epoch: 3, sequence: 4 }],
    ['of an epoch before', { epoch: 2, sequence: 100 }],
  ])('is rejected if it is %s', async (_what, position) => {
    for (const frames of [
      fullFrames(position, changed()),
      deltaFrames(position, SNAPSHOT, snapshotOf(changed())),
    ]) {
      const under = receiving(SERVING);

      expect(await errorsOf(under, frames)).toEqual([
        { key: '', reason: 'StalePosition', message: '3.5' },
      ]);
      expect(under.receiver.serving).toMatchObject(SERVING);
    }
  });

  test('counts once the snapshot serves, and not if it is rejected', async () => {
    const under = receiving(SERVING, () => [{ key: 'settings', message: 'no' }]);
    await take(under, fullFrames({ epoch: 900, sequence: 1 }, changed()));

    expect(under.receiver.serving?.position).toEqual(FIRST);
  });

  test('can be the only change: then the snapshot is the same object', async () => {
    const under = receiving(SERVING);
    await take(under, deltaFrames({ epoch: 4, sequence: 1 }, SNAPSHOT, SNAPSHOT));
    await take(under, fullFrames({ epoch: 4, sequence: 2 }, RESOURCES));

    expect(under.applied.map(({ snapshot }) => snapshot === SNAPSHOT)).toEqual([true, true]);
    expect(under.receiver.serving?.position).toEqual({ epoch: 4, sequence: 2 });
  });
});

describe('the resources of a snapshot', () => {
  test.each([
    ['changes', deltaFrames({ epoch: 3, sequence: 6 }, SNAPSHOT, snapshotOf(changed()))],
    ['all of it', fullFrames({ epoch: 3, sequence: 6 }, changed())],
  ])('stay the same objects if unchanged, sent as %s', async (_what, frames) => {
    const under = receiving(SERVING);
    await take(under, frames);
    const next = under.applied[0]?.snapshot.resources;
    const others = [...SNAPSHOT.resources].filter(([key, value]) => next?.get(key) !== value);

    expect(others.map(([key]) => key)).toEqual(['route/team/a']);
    expect(SNAPSHOT.resources.size).toBe(4);
  });

  test('are exactly those that are sent in a whole snapshot', async () => {
    const under = receiving(SERVING);
    await take(under, fullFrames({ epoch: 4, sequence: 1 }, RESOURCES.slice(1)));

    expect(under.applied[0]?.snapshot).toEqual(snapshotOf(RESOURCES.slice(1)));
  });

  test('are all checked before the snapshot is rejected', async () => {
    const broken = RESOURCES.map((each) =>
      each.key.startsWith('route/') ? { ...each, value: { ...each.value, extra: 1 } } : each,
    );
    const errors = await errorsOf(receiving(), fullFrames(FIRST, broken));

    expect(errors.map(({ key, reason }) => [key, reason])).toEqual([
      ['route/team/a', 'InvalidResource'],
      ['route/team/b', 'InvalidResource'],
    ]);
  });

  test('are listed by the thousand if rejected, as many as fit a frame', async () => {
    const under = receiving(undefined, ({ snapshot }) =>
      [...snapshot.resources.keys()].map((key) => ({ key, message: 'x'.repeat(1000) })),
    );
    const many = resourcesOf(
      ...Array.from({ length: 4000 }, (_, index) => aCompiledRoute(`team/${String(index)}`)),
    );
    const answer = await take(under, fullFrames(FIRST, many));

    expect(JSON.stringify(answer).length).toBeLessThan(LONGEST_PROXY_LINE_BYTES);
    expect(answer?.t === 'nack' ? answer.rejected.length : 0).toBeGreaterThan(2000);
  });
});

describe('a change of one resource', () => {
  /** Serves that many routes, changes one, and returns the keys of all that were looked into. */
  async function lookedInto(count: number): Promise<readonly string[]> {
    const looked: string[] = [];
    const names = Array.from({ length: count }, (_, index) => `team/r${String(index)}`);
    const before = snapshotOf(
      resourcesOf(compiledSettings(), ...names.map((name) => aCompiledRoute(name))),
    );
    const watched = [...before.resources.values()].map(({ key, hash, value }) => ({
      key,
      hash,
      get value() {
        looked.push(key);
        return value;
      },
    }));
    const placed = {
      position: FIRST,
      snapshot: { ...before, resources: new Map(watched.map((each) => [each.key, each])) },
    };
    const under = receiving(placed);
    const change = async (sequence: number, from: Snapshot): Promise<Snapshot> => {
      const upstream = `http://${String(sequence)}.internal`;
      const [changed] = resourcesOf(aCompiledRoute('team/r1', { upstream }));
      const rest = [...from.resources.values()].filter(({ key }) => key !== changed?.key);
      const to = snapshotOf(changed === undefined ? rest : [...rest, changed]);
      const frames = deltaFrames({ epoch: 4, sequence }, from, to);
      expect(await take(under, frames)).toMatchObject({ t: 'ack' });
      return to;
    };
    const first = await change(1, before);
    looked.length = 0;
    await change(2, first);
    expect(under.applied).toHaveLength(2);
    return looked;
  }

  test('reads no other resource, however many there are', async () => {
    expect(await lookedInto(5)).toEqual([]);
    expect(await lookedInto(200)).toEqual([]);
  });

  test.each([
    ['in changes', (to: Snapshot) => deltaFrames({ epoch: 4, sequence: 1 }, SNAPSHOT, to)],
    ['in all', (to: Snapshot) => fullFrames({ epoch: 4, sequence: 1 }, [...to.resources.values()])],
  ])('is reported with its old content, %s', async (_what, framesTo) => {
    const told: unknown[] = [];
    const receiver = new SnapshotReceiver(SERVING, {
      apply: (_placed, { since, changes }) => {
        expect(since).toBe(SNAPSHOT);
        told.push(...changes.map(({ before, after }) => [before?.key, after?.key]));
        return [];
      },
      logger: createRecordingLogger(),
    });
    const [a, b, added] = resourcesOf(
      aCompiledRoute('team/a', { upstream: 'http://other.internal' }),
      aCompiledRoute('team/b'),
      aCompiledRoute('team/c'),
    );
    if (a === undefined || b === undefined || added === undefined) throw new Error('three');
    const rest = RESOURCES.filter(({ key }) => key !== a.key && key !== b.key);
    const to = snapshotOf([...rest, a, added]);
    await take({ receiver, applied: [] }, framesTo(to));
    const expected = [
      [a.key, a.key],
      [b.key, undefined],
      [undefined, added.key],
    ];
    expect(told).toHaveLength(expected.length);
    expect(told).toEqual(expect.arrayContaining(expected));
  });
});

describe('a resource that stays while its newest content is rejected', () => {
  const next = { epoch: 4, sequence: 1 };

  test('is named in the nack', async () => {
    const [bad] = resourcesOf(aCompiledRoute('team/a', { upstream: 'http://b.internal' }));
    const under = receiving(SERVING, () => [{ key: bad?.key ?? '', message: 'no' }]);
    const servedHash = SNAPSHOT.resources.get('route/team/a')?.hash;

    expect(await errorsOf(under, fullFrames(next, changed()))).toEqual([
      { key: 'route/team/a', reason: 'InvalidResource', message: 'no', servedHash },
    ]);
  });

  test('is taken from what serves', async () => {
    const under = receiving(SERVING);
    const frames = fullFrames(next, RESOURCES).map((frame) =>
      frame.t === 'put' ? ({ t: 'keep', k: frame.k, h: frame.h } as const) : frame,
    );

    expect(await take(under, frames)).toMatchObject({ t: 'ack' });
    expect(under.applied[0]?.snapshot).toBe(SNAPSHOT);
  });

  test('breaks the snapshot if it does not serve', async () => {
    const [begin, ...rest] = fullFrames(next, RESOURCES);
    const keep = { t: 'keep', k: 'route/team/a', h: HASH } as const;
    const frames = rest.map((frame) =>
      frame.t === 'put' && frame.k === 'route/team/a' ? keep : frame,
    );
    for (const serving of [SERVING, undefined]) {
      const errors = await errorsOf(receiving(serving), begin ? [begin, ...frames] : []);
      expect(errors).toMatchObject([{ key: 'route/team/a', reason: 'BrokenSnapshot' }]);
    }
  });

  test.each([
    ['in changes', (to: Snapshot) => deltaFrames(next, SNAPSHOT, to)],
    [
      'in all of it',
      (to: Snapshot) =>
        fullFrames(next, [...to.resources.values()]).map((frame) =>
          frame.t === 'put' && frame.k === 'route/team/a'
            ? ({ t: 'keep', k: frame.k, h: frame.h } as const)
            : frame,
        ),
    ],
  ])('cannot stay if a different route has its address, %s', async (_what, framesTo) => {
    const { host, path } = aCompiledRoute('team/a');
    const thief = resourcesOf(aCompiledRoute('team/new', { host, path }));
    const under = receiving(SERVING);

    expect(await errorsOf(under, framesTo(snapshotOf([...RESOURCES, ...thief])))).toEqual([
      { key: 'route/team/a', reason: 'InvalidResource', message: expect.any(String) },
    ]);
    expect(under.applied).toEqual([]);
  });
});

describe('a snapshot that is not consistent', () => {
  const [begin, ...rest] = deltaFrames(
    { epoch: 3, sequence: 6 },
    SNAPSHOT,
    snapshotOf(changed().slice(1)),
  );
  if (begin?.t !== 'begin') throw new Error('a snapshot begins');
  const [put, del, commit] = rest;
  if (put?.t !== 'put' || del === undefined || commit === undefined) throw new Error('three more');

  test('is accepted without the fault', async () => {
    expect(await take(receiving(SERVING), [begin, put, del, commit])).toMatchObject({ t: 'ack' });
  });

  test.each<[string, readonly ControllerFrame[], Partial<RejectedEntry>]>([
    ['has less than announced', [begin, put, commit], { key: '' }],
    ['has more than announced', [{ ...begin, count: 1 }, put, del, commit], { key: '' }],
    ['has another version', [begin, put, del, { t: 'commit', version: HASH }], { key: '' }],
    ['has a resource twice', [begin, put, put, commit], { key: 'route/team/a' }],
    ['deletes what there is not', [begin, put, { t: 'del', k: 'no' }, commit], { key: 'no' }],
    ['has a hash of something else', [begin, { ...put, h: HASH }, del, commit], { key: put.k }],
    [
      'has something else under a hash',
      [begin, { ...put, v: aCompiledRoute('team/a') }, del, commit],
      { key: put.k },
    ],
  ])('that %s is rejected as broken', async (_what, frames, error) => {
    const under = receiving(SERVING);

    expect(await errorsOf(under, frames)).toEqual([
      { reason: 'BrokenSnapshot', message: expect.any(String), ...error },
    ]);
    expect(under.applied).toEqual([]);
    expect(under.receiver.serving).toMatchObject(SERVING);
  });

  test('with an unknown base is rejected as such', async () => {
    const frames = [{ ...begin, base: HASH }, put, del, commit];
    for (const serving of [SERVING, undefined]) {
      expect(await errorsOf(receiving(serving), frames)).toEqual([
        { key: '', reason: 'UnknownBase', message: expect.any(String) },
      ]);
    }
  });

  test('with a resource under a wrong key is rejected for it', async () => {
    const frames = [begin, { ...put, k: 'route/team/z' }, del, commit];

    expect(await errorsOf(receiving(SERVING), frames)).toMatchObject([
      { key: 'route/team/z', reason: 'InvalidResource' },
    ]);
  });

  test.each([
    ['begins within another', [begin, begin]],
    ['has not begun', [put]],
    ['ends twice', [begin, put, del, commit, commit]],
  ])('that %s breaks the protocol', async (_what, frames) => {
    await expect(take(receiving(SERVING), frames)).rejects.toThrow(ProtocolError);
  });
});
