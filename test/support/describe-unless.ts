import { describe, test } from '@jest/globals';

/**
 * Whether to leave something out for a reason, which is printed: mostly a program that is not installed. In CI, where
 * everything is installed that tests need, the reason is an error.
 */
export function mustSkip(reason: string | undefined): boolean {
  if (reason === undefined) return false;
  if (process.env['CI'] !== undefined) throw new Error(reason);
  console.warn(`skipped: ${reason}`);
  return true;
}

/** `describe`, or `describe.skip` where `mustSkip` says so. */
export function describeUnless(reason: string | undefined): typeof describe | typeof describe.skip {
  return mustSkip(reason) ? describe.skip : describe;
}

/** `test`, or `test.skip` where `mustSkip` says so. */
export function testUnless(reason: string | undefined): typeof test | typeof test.skip {
  return mustSkip(reason) ? test.skip : test;
}
