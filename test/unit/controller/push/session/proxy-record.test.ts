import { describe, expect, test } from '@jest/globals';

import { sentAsIs } from '../../../../../controller/push/content/overlay.ts';
import { PUSH_TIMING } from '../../../../../controller/push/push-timing.ts';
import type { ProxyArrival } from '../../../../../controller/push/session/proxy-arrival.ts';
import { ProxyRecord } from '../../../../../controller/push/session/proxy-record.ts';
import type { RejectedEntry } from '../../../../../shared/snapshot/push-frames.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const OFFERED = { position: { epoch: 2, sequence: 7 }, sent: sentAsIs('newest') };
const NOTHING: ProxyArrival = { kind: 'nothing' };
const FOREIGN: ProxyArrival = {
  kind: 'foreign',
  position: { epoch: 1, sequence: 3 },
  base: sentAsIs('before'),
};
const OURS: ProxyArrival = {
  kind: 'revision',
  position: { epoch: 2, sequence: 5 },
  base: sentAsIs('ours'),
};
/** A history without a snapshot. */
const NEVER = { publishedAfter: () => undefined };
const REJECTED: RejectedEntry = { key: 'route/x/a', reason: 'InvalidResource', message: 'no' };

const STEPS = {
  'connects with nothing': (record) => record.connect(NOTHING),
  'connects with ours': (record) => record.connect(OURS),
  'connects with a foreign snapshot': (record) => record.connect(FOREIGN),
  acknowledges: (record) => record.acknowledge(OFFERED),
  rejects: (record) => record.reject([REJECTED]),
  'is slow': (record) => record.setSlow(true),
  disconnects: (record) => record.disconnect(),
  'is ready': (record) => record.setStatus({ t: 'status', ready: true, draining: false, conns: 0 }),
  drains: (record) => record.setStatus({ t: 'status', ready: true, draining: true, conns: 0 }),
} as const satisfies Record<string, (record: ProxyRecord) => void>;

type Step = keyof typeof STEPS;

function aRecord(...steps: readonly Step[]): ProxyRecord {
  return recordOn(new ManualClock(), ...steps);
}

function recordOn(clock: ManualClock, ...steps: readonly Step[]): ProxyRecord {
  const record = new ProxyRecord('proxy-0', { timing: PUSH_TIMING, clock });
  for (const step of steps) STEPS[step](record);
  return record;
}

describe('a proxy', () => {
  test.each<readonly [readonly Step[], number | undefined]>([
    [[], undefined],
    [['connects with nothing'], undefined],
    [['connects with nothing', 'rejects'], undefined],
    [['connects with nothing', 'is slow'], undefined],
    [['connects with nothing', 'acknowledges'], 7],
    [['connects with nothing', 'acknowledges', 'rejects'], 7],
    [['connects with nothing', 'acknowledges', 'disconnects'], 7],
    [['connects with nothing', 'acknowledges', 'drains'], undefined],
    [['connects with nothing', 'acknowledges', 'connects with nothing'], undefined],
    [['connects with ours'], 5],
    [['connects with a foreign snapshot'], undefined],
    [['connects with a foreign snapshot', 'rejects'], 0],
    [['connects with a foreign snapshot', 'is slow'], 0],
    [['connects with a foreign snapshot', 'rejects', 'connects with a foreign snapshot'], 0],
    [['connects with a foreign snapshot', 'rejects', 'connects with nothing'], undefined],
    [['connects with a foreign snapshot', 'rejects', 'acknowledges'], 7],
  ])('after %j counts with sequence %p', (steps, sequence) => {
    const record = aRecord(...steps);

    expect(record.counts ? record.sequence : undefined).toBe(sequence);
  });

  test('is synced when it serves the newest position and rejects nothing', () => {
    const newest = OFFERED.position;

    expect(aRecord('connects with nothing', 'acknowledges').report(newest, NEVER).isSynced).toBe(
      true,
    );
    expect(
      aRecord('connects with nothing', 'acknowledges', 'rejects').report(newest, NEVER).isSynced,
    ).toBe(false);
    expect(aRecord('connects with ours').report(newest, NEVER).isSynced).toBe(false);
  });

  test('is ready while it says so, is connected and answers in time', () => {
    const isReady = (...steps: readonly Step[]): boolean =>
      aRecord(...steps).report(OFFERED.position, NEVER).isReady;

    expect(isReady('connects with nothing')).toBe(false);
    expect(isReady('connects with nothing', 'is ready')).toBe(true);
    expect(isReady('connects with nothing', 'is ready', 'is slow')).toBe(false);
    expect(isReady('connects with nothing', 'is ready', 'disconnects')).toBe(false);
  });

  test('lags since what it has not acknowledged was published, and not since before it connected', async () => {
    const clock = new ManualClock();
    const publishedAt = (sequence: number): number | undefined =>
      sequence < 7 ? clock.now() - 300 : undefined;
    const lag = (record: ProxyRecord): number => record.lagMs({ publishedAfter: publishedAt });

    expect(lag(recordOn(clock, 'connects with nothing', 'acknowledges'))).toBe(0);
    const behind = recordOn(clock, 'connects with ours');
    expect(lag(behind)).toBe(0);
    await clock.advance(100);
    expect(lag(behind)).toBe(100);
    await clock.advance(1000);
    expect(lag(behind)).toBe(300);
  });
});
