import { describe, expect, test } from '@jest/globals';

import { ProtocolError } from '../../../../../proxy/push/connection/protocol-error.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import {
  type ControllerFrame,
  type RejectedEntry,
} from '../../../../../shared/snapshot/push-frames.ts';
import type { Snapshot } from '../../../../../shared/snapshot/snapshot.ts';
import { deltaFrames, fullFrames } from '../../../../support/push/frames.ts';
import { aFullRoute, resourcesOf } from '../../../../support/push/some-resources.ts';
import {
  RESOURCES,
  SNAPSHOT,
  SERVING,
  receiving,
  take,
  rejectedOf,
  changed,
} from '../../../../support/push/receiving-proxy.ts';

const HASH = '0'.repeat(64);

describe('a resource that stays while its newest content is rejected', () => {
  const next = { epoch: 4, sequence: 1 };

  test('is named in the nack', async () => {
    const [bad] = resourcesOf(aFullRoute('team/a', { upstream: 'http://b.internal' }));
    const under = receiving(SERVING, () => [{ key: bad?.key ?? '', message: 'no' }]);
    const servedHash = SNAPSHOT.resources.get('route/team/a')?.hash;

    expect(await rejectedOf(under, fullFrames(next, changed()))).toEqual([
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
      const errors = await rejectedOf(receiving(serving), begin ? [begin, ...frames] : []);
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
    const { host, path } = aFullRoute('team/a');
    const thief = resourcesOf(aFullRoute('team/new', { host, path }));
    const under = receiving(SERVING);

    expect(await rejectedOf(under, framesTo(snapshotOf([...RESOURCES, ...thief])))).toEqual([
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
      [begin, { ...put, v: aFullRoute('team/a') }, del, commit],
      { key: put.k },
    ],
  ])('that %s is rejected as broken', async (_what, frames, error) => {
    const under = receiving(SERVING);

    expect(await rejectedOf(under, frames)).toEqual([
      { reason: 'BrokenSnapshot', message: expect.any(String), ...error },
    ]);
    expect(under.applied).toEqual([]);
    expect(under.receiver.serving).toMatchObject(SERVING);
  });

  test('with an unknown base is rejected as such', async () => {
    const frames = [{ ...begin, base: HASH }, put, del, commit];
    for (const serving of [SERVING, undefined]) {
      expect(await rejectedOf(receiving(serving), frames)).toEqual([
        { key: '', reason: 'UnknownBase', message: expect.any(String) },
      ]);
    }
  });

  test('with a resource under a wrong key is rejected for it', async () => {
    const frames = [begin, { ...put, k: 'route/team/z' }, del, commit];

    expect(await rejectedOf(receiving(SERVING), frames)).toMatchObject([
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
