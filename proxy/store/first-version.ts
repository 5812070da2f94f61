import { randomInt } from 'node:crypto';

/**
 * Returns the version of a record that is new. Random, so that a holder of a record that was dropped or
 * replaced since does not find its version again.
 */
export function firstVersion(): number {
  return randomInt(2 ** 47);
}
