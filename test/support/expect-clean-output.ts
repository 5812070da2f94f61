import { expect } from '@jest/globals';

import type { GatewayFleet } from './gateway-fleet.ts';

/** Fails if a process of a fleet ever wrote a token or its client secret, or crashed. */
export function expectCleanOutput(fleet: GatewayFleet): void {
  const log = fleet.members.flatMap((member) => member.log);
  expect(log).not.toHaveLength(0);
  const written = JSON.stringify(log);
  // Tokens are recognized by their prefixes.
  expect(written).not.toMatch(/gt[er]_[\w-]{8}/);
  expect(written).not.toContain(fleet.identityProvider.clientSecret);
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  // Node reports an unhandled rejection there, and exits.
  expect(fleet.members.map(({ stderr }) => stderr).join('')).toBe('');
}
