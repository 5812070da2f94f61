import { describe, expect, test } from '@jest/globals';

import { SnapshotReceiver } from '../../../../../proxy/push/staging/snapshot-receiver.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import {
  LONGEST_PROXY_LINE_BYTES,
  type ControllerFrame,
} from '../../../../../shared/snapshot/push-frames.ts';
import type { Snapshot } from '../../../../../shared/snapshot/snapshot.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { deltaFrames, fullFrames } from '../../../../support/push/frames.ts';
import { aFullRoute, resourcesOf } from '../../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';
import { recordSpans } from '../../../../support/tracing/recorded-spans.ts';
import {
  FIRST,
  RESOURCES,
  SNAPSHOT,
  SERVING,
  receiving,
  take,
  rejectedOf,
  changed,
} from '../../../../support/push/receiving-proxy.ts';

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

      expect(await rejectedOf(under, frames)).toEqual([
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

describe('applying a snapshot', () => {
  const CONTROLLER = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  const NEXT = { epoch: 3, sequence: 6 };

  /** The frames of a snapshot whose first one names a trace. */
  function framesOf(trace: string): readonly ControllerFrame[] {
    return fullFrames(NEXT, changed()).map((frame) =>
      frame.t === 'begin' ? { ...frame, trace } : frame,
    );
  }

  test('is a span of the trace of the controller', async () => {
    const { tracer, spanOf } = recordSpans();
    await take(receiving(SERVING, undefined, tracer), framesOf(CONTROLLER));
    const span = spanOf('apply snapshot');

    expect(span).toMatchObject({
      ...{ traceId: 'ab'.repeat(16), parentSpanId: 'cd'.repeat(8), error: undefined },
    });
    expect(span.attributes).toEqual({ 'gatehouse.snapshot.position': '3.6' });
  });

  test('fails in the trace if it is rejected', async () => {
    const { tracer, spanOf } = recordSpans();
    const under = receiving(SERVING, () => [{ key: 'settings', message: 'no' }], tracer);
    await take(under, framesOf(CONTROLLER));

    expect(spanOf('apply snapshot').attributes['error.type']).toBe('InvalidResource');
  });

  test('has no span if the controller does not sample it', async () => {
    const { tracer, spans } = recordSpans();
    await take(receiving(SERVING, undefined, tracer), framesOf(CONTROLLER.replace(/1$/, '0')));

    expect(spans).toEqual([]);
  });

  test('is a trace of its own if the controller names none, or a wrong one', async () => {
    const { tracer, spans } = recordSpans();
    await take(receiving(SERVING, undefined, tracer), fullFrames(NEXT, changed()));
    await take(
      receiving(SERVING, undefined, tracer),
      framesOf(`00-${'00'.repeat(16)}-${'cd'.repeat(8)}-01`),
    );

    expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
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
    const errors = await rejectedOf(receiving(), fullFrames(FIRST, broken));

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
      ...Array.from({ length: 4000 }, (_, index) => aFullRoute(`team/${String(index)}`)),
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
      resourcesOf(compiledSettings(), ...names.map((name) => aFullRoute(name))),
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
      const [changed] = resourcesOf(aFullRoute('team/r1', { upstream }));
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
      aFullRoute('team/a', { upstream: 'http://other.internal' }),
      aFullRoute('team/b'),
      aFullRoute('team/c'),
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
