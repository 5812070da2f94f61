import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Identity } from '../../../../proxy/records/session.ts';
import {
  buildPolicyEvaluator,
  isPermitted,
} from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { PolicyInput } from '../../../../proxy/policy/decision.ts';
import type { Criterion, Policy, PolicyBlock } from '../../../../shared/snapshot/policy.ts';

const ALL_CODES =
  /^(?:accept|reject|authenticated-user|user-unauthenticated|mcp-no-tool|(?:user|email|domain|groups|claim|http-method|http-path|mcp-tool)-(?:ok|unauthorized))$/;

const text = fc.constantFrom('', 'a', 'b', 'a@b', 'A@B', 'POST', '/a', '__proto__');
const matcher = fc.oneof(
  fc.record({ is: text }),
  fc.record({ contains: text }),
  fc.record({ not_in: fc.array(text, { minLength: 1, maxLength: 2 }) }),
);
const criterion: fc.Arbitrary<Criterion> = fc.oneof(
  fc.constantFrom<Criterion>(
    { kind: 'accept' },
    { kind: 'reject' },
    { kind: 'authenticated_user' },
  ),
  fc.record({
    kind: fc.constantFrom('user', 'email', 'domain', 'groups', 'http_method', 'http_path'),
    matcher,
  }),
  fc.record({
    kind: fc.constant('claim'),
    path: fc.array(text, { minLength: 1, maxLength: 3 }),
    matcher,
  }),
  fc.record({ kind: fc.constant('mcp_tool'), matcher }),
);
const group = fc.array(criterion, { minLength: 1, maxLength: 3 });
const block: fc.Arbitrary<PolicyBlock> = fc
  .record({ and: group, or: group, not: group, nor: group }, { requiredKeys: [] })
  .filter((groups) => Object.keys(groups).length > 0);
const policy: fc.Arbitrary<Policy> = fc.record({ allow: block, deny: block }, { requiredKeys: [] });
const identity: fc.Arbitrary<Identity> = fc.record(
  {
    provider: text,
    subject: text,
    email: text,
    groups: fc.array(text, { maxLength: 2 }),
    claims: fc.dictionary(text, fc.jsonValue({ maxDepth: 3 })),
  },
  { requiredKeys: ['provider', 'subject', 'groups', 'claims'] },
);
const input: fc.Arbitrary<PolicyInput> = fc.record({
  identity: fc.option(identity, { nil: undefined }),
  method: text,
  path: text,
  toolName: fc.option(text, { nil: undefined }),
});

const ALICE: Identity = { provider: 'idp', subject: 'alice', groups: [], claims: {} };
const REQUEST: PolicyInput = { identity: ALICE, method: 'POST', path: '/', toolName: undefined };
const DENIED_IN_ONE_READING: Policy = {
  allow: { and: [{ kind: 'accept' }] },
  deny: { or: [{ kind: 'http_path', matcher: { contains: 'a@b' } }] },
};

const DENIES_A_TOOL: Policy = {
  allow: { and: [{ kind: 'accept' }] },
  deny: { or: [{ kind: 'mcp_tool', matcher: { is: 'drop_table' } }] },
};

describe('a policy evaluator', () => {
  test('decides every request by any policy, with known reasons that do not repeat', () => {
    fc.assert(
      fc.property(policy, input, (written, asked) => {
        const { allow, allowReasons, deny, denyReasons } =
          buildPolicyEvaluator(written).decide(asked);

        expect([typeof allow, typeof deny]).toEqual(['boolean', 'boolean']);
        for (const reasons of [allowReasons, denyReasons]) {
          expect(reasons).toEqual([...new Set(reasons)]);
          for (const reason of reasons) expect(reason).toMatch(ALL_CODES);
        }
      }),
    );
  });

  test('permits what a naive model permits', () => {
    fc.assert(
      fc.property(policy, input, (written, asked) => {
        expect(isPermitted(buildPolicyEvaluator(written).decide(asked))).toBe(
          model(written, 'allow', asked) && !model(written, 'deny', asked),
        );
      }),
      { examples: [[DENIED_IN_ONE_READING, { ...REQUEST, path: 'A@B' }]] },
    );
  });

  test('permits another tool whenever it permits the called one', () => {
    fc.assert(
      fc.property(policy, input, (written, asked) => {
        const compiled = buildPolicyEvaluator(written);

        expect(!isPermitted(compiled.decide(asked)) || compiled.wouldPermitSomeTool(asked)).toBe(
          true,
        );
      }),
    );
  });

  test('has mcp-tool-ok for every tool call that it permits, whether or not it names tools', () => {
    fc.assert(
      fc.property(policy, input, text, (written, asked, toolName) => {
        for (const one of [written, withTool(written)]) {
          const decision = buildPolicyEvaluator(one).decide({ ...asked, toolName });

          expect(!isPermitted(decision) || decision.allowReasons.includes('mcp-tool-ok')).toBe(
            true,
          );
        }
      }),
    );
  });

  test('gives a reason why deny did not apply, for every request', () => {
    fc.assert(
      fc.property(policy, input, (written, asked) => {
        const { deny, denyReasons } = buildPolicyEvaluator(written).decide(asked);

        expect(deny || written.deny === undefined || denyReasons.length > 0).toBe(true);
      }),
      { examples: [[DENIES_A_TOOL, REQUEST]] },
    );
  });

  test('permits nothing if the policy is empty', () => {
    expect(buildPolicyEvaluator({}).decide(REQUEST)).toEqual({
      allow: false,
      allowReasons: [],
      deny: false,
      denyReasons: [],
    });
  });

  test.each<[string, Policy, string]>([
    ['an empty group', { allow: { and: [] } }, 'empty group "and"'],
    ['an empty block', { allow: { and: [{ kind: 'accept' }] }, deny: {} }, 'without groups'],
    [
      'an unknown group',
      { deny: { xor: [{ kind: 'accept' }] } as PolicyBlock },
      'unknown group "xor"',
    ],
  ])('is not built from %s', (_, written, message) => {
    expect(() => buildPolicyEvaluator(written)).toThrow(message);
  });

  test('is not built from an unknown criterion', () => {
    const unknown = { kind: 'device', matcher: { is: 'a' } } as unknown as Criterion;

    expect(() => buildPolicyEvaluator({ deny: { or: [unknown] } })).toThrow();
  });
});

/**
 * The groups of a block as the documentation explains them, on whether each criterion alone is
 * satisfied. That depends on the block: a path that can be read in two ways has to be allowed in
 * both, and is denied in either.
 */
function model(policy: Policy, block: 'allow' | 'deny', asked: PolicyInput): boolean {
  const satisfied = (criteria: readonly Criterion[], group: 'and' | 'not'): boolean[] =>
    criteria.map(
      (one) => buildPolicyEvaluator({ [block]: { [group]: [one] } }).decide(asked)[block],
    );
  const { and, or, not, nor } = policy[block] ?? {};
  return (
    (and !== undefined && satisfied(and, 'and').every((isSo) => isSo)) ||
    (or !== undefined && satisfied(or, 'and').some((isSo) => isSo)) ||
    (not !== undefined && satisfied(not, 'not').every((isSo) => isSo)) ||
    (nor !== undefined && satisfied(nor, 'not').some((isSo) => isSo))
  );
}

function withTool({ allow, deny }: Policy): Policy {
  const never: Criterion = { kind: 'mcp_tool', matcher: { is: 'no such tool' } };
  const denying = { ...deny, or: [...(deny?.or ?? []), never] };
  return allow === undefined ? { deny: denying } : { allow, deny: denying };
}
