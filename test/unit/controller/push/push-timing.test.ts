import { expect, test } from '@jest/globals';

import { DEFAULT_TIMING } from '../../../../controller/leader/election-timing.ts';
import { PUSH_TIMING } from '../../../../controller/push/push-timing.ts';
import { PUSH_CLIENT_TIMING } from '../../../../proxy/push/connection/push-timing.ts';

test('a leader pings a proxy before the proxy gives it up', () => {
  expect(PUSH_TIMING.pingMs).toBeLessThan(PUSH_CLIENT_TIMING.silenceMs);
});

test('a leader waits for the hello of a proxy for longer than the proxy waits for an answer', () => {
  expect(PUSH_TIMING.authenticationMs).toBeGreaterThan(PUSH_CLIENT_TIMING.helloMs);
});

test('a proxy that was displaced stays away for longer than its stream takes to close', () => {
  expect(PUSH_CLIENT_TIMING.displacedMs).toBeGreaterThan(PUSH_TIMING.closeMs);
});

test('a leader resigns before another controller can acquire the Lease', () => {
  const { renewDeadlineMs, leaseDurationMs } = DEFAULT_TIMING;

  expect(renewDeadlineMs).toBeLessThan(leaseDurationMs);
});
