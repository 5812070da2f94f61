import { expect, it } from '@jest/globals';

import type { RolloutState } from '../../../../controller/push/publication.ts';
import { combineRolloutStates } from '../../../../controller/status/combine-rollout-states.ts';

const PROGRAMMED: RolloutState = { kind: 'programmed' };
const NEARLY: RolloutState = { kind: 'pending', acknowledged: 2, proxies: 3 };
const HARDLY: RolloutState = { kind: 'pending', acknowledged: 1, proxies: 3 };
const REJECTED: RolloutState = { kind: 'rejected', proxy: 'proxy-0', message: 'no' };
const NO_PROXIES: RolloutState = { kind: 'no-proxies' };

it.each<[string, (RolloutState | undefined)[], RolloutState | undefined]>([
  ['nothing', [], undefined],
  ['all', [PROGRAMMED, PROGRAMMED], PROGRAMMED],
  ['the last', [NEARLY, PROGRAMMED, HARDLY], HARDLY],
  ['one that is refused', [undefined, REJECTED, NEARLY], REJECTED],
  ['one that is not published', [PROGRAMMED, undefined], undefined],
  ['no proxy', [NO_PROXIES, NO_PROXIES], NO_PROXIES],
])('several resources have the rollout state of %s', (_, all, expected) => {
  expect(combineRolloutStates(all)).toEqual(expected);
});
