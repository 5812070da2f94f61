import { describe, expect, test } from '@jest/globals';

import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';
import { WorkMeter } from '../../../support/abuse/work-meter.ts';

const LONGEST_PATH = `/${'%C3%A9'.repeat(1_300)}`;

/** Decides about the longest path by this many criteria, and returns the characters that it takes. */
async function charactersOf(criteria: number): Promise<number> {
  const policy = buildPolicyEvaluator({
    allow: { and: [{ kind: 'accept' }] },
    deny: {
      or: Array.from({ length: criteria }, (_, index) => ({
        kind: 'http_path' as const,
        matcher: { starts_with: `/${String(index)}` },
      })),
    },
  });
  await using meter = await WorkMeter.start();
  // A path of its own, which no policy has read before.
  const input = aPolicyInput({ path: LONGEST_PATH + String(criteria) });
  const { characters } = await meter.measure(() => Promise.resolve(policy.decide(input)));
  return characters;
}

describe('a policy with many criteria about the path', () => {
  // Attack: the author of such a policy could slow all hosts of a proxy.
  test('decodes the path once', async () => {
    const one = await charactersOf(1);
    expect(one).toBeGreaterThan(LONGEST_PATH.length);
    expect(await charactersOf(64)).toBeLessThan(one + 64 * 64);
  });
});
