import { expect, test } from '@jest/globals';

import { DEFAULT_TIMING } from '../../../../../controller/leader/election-timing.ts';
import { PUSH_CLIENT_TIMING } from '../../../../../proxy/push/connection/push-timing.ts';

test('a proxy gives up a leader that hangs before another controller can lead', () => {
  const { pingMs, silenceMs } = PUSH_CLIENT_TIMING;
  // Silence is noticed at the next ping.
  expect(silenceMs + pingMs).toBeLessThan(DEFAULT_TIMING.leaseDurationMs);
});
