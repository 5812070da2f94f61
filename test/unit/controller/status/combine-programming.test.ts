import { expect, it } from '@jest/globals';

import type { Programming } from '../../../../controller/push/publication.ts';
import { combineProgramming } from '../../../../controller/status/combine-programming.ts';

const PROGRAMMED: Programming = { kind: 'programmed' };
const NEARLY: Programming = { kind: 'pending', acknowledged: 2, proxies: 3 };
const HARDLY: Programming = { kind: 'pending', acknowledged: 1, proxies: 3 };
const REJECTED: Programming = { kind: 'rejected', proxy: 'proxy-0', message: 'no' };
const NO_PROXIES: Programming = { kind: 'no-proxies' };

it.each<[string, (Programming | undefined)[], Programming | undefined]>([
  ['nothing', [], undefined],
  ['all', [PROGRAMMED, PROGRAMMED], PROGRAMMED],
  ['the last', [NEARLY, PROGRAMMED, HARDLY], HARDLY],
  ['one that is refused', [undefined, REJECTED, NEARLY], REJECTED],
  ['one that is not published', [PROGRAMMED, undefined], undefined],
  ['no proxy', [NO_PROXIES, NO_PROXIES], NO_PROXIES],
])('resources have come as far as %s', (_, all, expected) => {
  expect(combineProgramming(all)).toEqual(expected);
});
