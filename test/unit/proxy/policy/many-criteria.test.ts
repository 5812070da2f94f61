import { describe, expect, test } from '@jest/globals';

import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { PolicyEvaluator } from '../../../../proxy/policy/decision.ts';
import type { PolicyInput } from '../../../../shared/policy/language/policy-input.ts';
import type { Criterion } from '../../../../shared/policy/policy.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';
import { WorkMeter, type Work } from '../../../support/abuse/work-meter.ts';

const LONGEST_PATH = `/${'%C3%A9'.repeat(1_300)}`;
const MANY = 64;

/** Decides about a request by so many criteria, and returns the work that it takes. */
function workOf(
  criteria: number,
  make: (index: number) => Criterion,
  asked: Partial<PolicyInput>,
): Promise<Work> {
  return workFor(evaluatorOf(criteria, make), asked);
}

function evaluatorOf(criteria: number, make: (index: number) => Criterion): PolicyEvaluator {
  return buildPolicyEvaluator({
    allow: { and: [{ kind: 'accept' }] },
    deny: { or: Array.from({ length: criteria }, (_, index) => make(index)) },
  });
}

async function workFor(policy: PolicyEvaluator, asked: Partial<PolicyInput>): Promise<Work> {
  await using meter = await WorkMeter.start();
  const input = aPolicyInput(asked);
  return await meter.measure(() => Promise.resolve(policy.decide(input)));
}

// Attack: the author of such a policy could slow all hosts of a proxy.
describe('a policy with many criteria', () => {
  test('decodes the path once', async () => {
    const charactersOf = async (criteria: number): Promise<number> => {
      // A path of its own, which no policy has read before.
      const path = LONGEST_PATH + String(criteria);
      const { characters } = await workOf(
        criteria,
        (index) => ({ kind: 'http_path', matcher: { starts_with: `/${String(index)}` } }),
        { path },
      );
      return characters;
    };
    const one = await charactersOf(1);
    expect(one).toBeGreaterThan(LONGEST_PATH.length);
    expect(await charactersOf(MANY)).toBeLessThan(one + MANY * MANY);
  });

  test('reads the names of all arguments once', async () => {
    const NAMES = 5_000;
    const blocksOf = async (criteria: number): Promise<number> => {
      const names = Array.from({ length: NAMES }, (_, index) => `name${String(index)}`);
      const { blocks } = await workOf(
        criteria,
        (index) => ({
          kind: 'mcp_tool_argument',
          path: [`name${String(index)}`],
          matcher: { is: 'x' },
        }),
        { toolName: 't', toolArguments: Object.fromEntries(names.map((name) => [name, 1])) },
      );
      return blocks;
    };
    const one = await blocksOf(1);
    expect(one).toBeGreaterThan(NAMES);
    expect(await blocksOf(MANY)).toBeLessThan(2 * one);
  });

  test('reads the address of the client once', async () => {
    const blocksOf = async (criteria: number): Promise<number> => {
      const { blocks } = await workOf(
        criteria,
        (index) => ({ kind: 'source_ip', networks: [`2001:db8::${String(index)}`] }),
        { clientAddress: `2001:db8::ffff:${String(criteria)}` },
      );
      return blocks;
    };
    const [few, many] = [await blocksOf(MANY), await blocksOf(2 * MANY)];
    // Each criterion compares the eight groups, and parses nothing.
    expect(many - few).toBeLessThan(30 * MANY);
  });

  test('looks an address up in a long list of networks in a few steps', async () => {
    const blocksOf = async (length: number): Promise<number> => {
      const networks = Array.from(
        { length },
        (_, index) => `10.${String(index >> 8)}.${String(index & 255)}.0/24`,
      );
      const policy = evaluatorOf(1, () => ({ kind: 'source_ip', networks }));
      const { blocks } = await workFor(policy, { clientAddress: '192.0.2.1' });
      return blocks;
    };
    expect(await blocksOf(5_000)).toBeLessThan((await blocksOf(1)) + 100);
  });

  test('parses each resource once', async () => {
    const blocksOf = async (criteria: number): Promise<number> => {
      const { blocks } = await workOf(
        criteria,
        (index) => ({ kind: 'mcp_resource', matcher: { is: `file:///${String(index)}` } }),
        {
          resources: [
            `file:///a${String(criteria)}/${'%C3'.repeat(600)}`,
            `file:///b${String(criteria)}/${'%43'.repeat(600)}`,
          ],
        },
      );
      return blocks;
    };
    const one = await blocksOf(1);
    expect(one).toBeGreaterThan(600);
    expect(await blocksOf(MANY)).toBeLessThan(one + MANY * MANY);
  });
});
