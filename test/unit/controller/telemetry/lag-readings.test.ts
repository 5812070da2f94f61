import { expect, test } from '@jest/globals';

import { lagReadings } from '../../../../controller/telemetry/lag-readings.ts';

function proxies(count: number): { readonly id: string; readonly lagMs: number }[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `proxy-${String(index)}`,
    lagMs: index,
  }));
}

test('every proxy of a hundred has a lag of its own, in seconds', () => {
  const readings = lagReadings(proxies(100));

  expect(readings).toHaveLength(100);
  expect(readings[99]).toEqual({ labels: { proxy: 'proxy-99' }, value: 0.099 });
});

test('the lags of more proxies than that are still a hundred, and the longest is not lost', () => {
  const readings = lagReadings([...proxies(500), { id: 'proxy-500', lagMs: 7000 }]);

  expect(readings).toHaveLength(100);
  expect(readings[98]?.labels.proxy).toBe('proxy-98');
  expect(readings[99]).toEqual({ labels: { proxy: '_other' }, value: 7 });
});
