import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Identity } from '../../../../proxy/records/session.ts';
import {
  buildPolicyEvaluator,
  isPermitted,
} from '../../../../proxy/policy/build-policy-evaluator.ts';
import { CRITERIA } from '../../../../shared/policy/criteria.ts';
import type { PolicyInput } from '../../../../shared/policy/language/policy-input.ts';
import type { Criterion, Policy, PolicyBlock } from '../../../../shared/policy/policy.ts';
import { block, ofUser, policy, text } from '../../../support/arbitrary-policies.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';

const ALL_CODES: readonly string[] = [
  'mcp-no-tool',
  ...CRITERIA.flatMap(({ reasons }) => Object.values(reasons)),
];

const input = fc.oneof(
  ofUser,
  ofUser.map((asked): PolicyInput => ({ ...asked, identity: undefined })),
);

const ALICE: Identity = { provider: 'idp', subject: 'alice', groups: [], claims: {} };
const REQUEST = aPolicyInput({ identity: ALICE });
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
          for (const reason of reasons) expect(ALL_CODES).toContain(reason);
        }
      }),
    );
  });

  test('permits what a naive model permits', () => {
    fc.assert(
      fc.property(policy, ofUser, (written, asked) => {
        expect(isPermitted(buildPolicyEvaluator(written).decide(asked))).toBe(
          model(written, 'allow', asked) && !model(written, 'deny', asked),
        );
      }),
      { examples: [[DENIED_IN_ONE_READING, { ...REQUEST, path: 'A@B' }]] },
    );
  });

  test('decides the same, whatever the order of the criteria', () => {
    fc.assert(
      fc.property(policy, input, (written, asked) => {
        const reversed = mapGroups(written, (criteria) => criteria.toReversed());

        const [one, other] = [written, reversed].map((each) =>
          buildPolicyEvaluator(each).decide(asked),
        );

        expect([other?.allow, other?.deny]).toEqual([one?.allow, one?.deny]);
        expect(other?.allowReasons.toSorted()).toEqual(one?.allowReasons.toSorted());
        expect(other?.denyReasons.toSorted()).toEqual(one?.denyReasons.toSorted());
      }),
    );
  });

  test('denies whatever deny names, even if allow allows everything', () => {
    fc.assert(
      fc.property(block, ofUser, (deny, asked) => {
        const everything: Policy = { allow: { or: [{ kind: 'accept' }] }, deny };
        const decision = buildPolicyEvaluator(everything).decide(asked);

        expect(isPermitted(decision)).toBe(!decision.deny);
      }),
    );
  });

  test('permits nobody without a user but a preflight that cors_preflight allows', () => {
    fc.assert(
      fc.property(policy, ofUser, (written, asked) => {
        const anonymous = { ...asked, identity: undefined };
        const evaluator = buildPolicyEvaluator(written);
        const { and = [], or = [] } = written.allow ?? {};
        const namesPreflights = [...and, ...or].some(({ kind }) => kind === 'cors_preflight');

        const isAdmitted = isPermitted(evaluator.decide(anonymous));

        expect(!isAdmitted || (asked.isPreflight && namesPreflights)).toBe(true);
        expect(!evaluator.wouldPermitSomeTool(anonymous) || isAdmitted).toBe(true);
      }),
    );
  });

  test('explains each decision by the results of its groups', () => {
    fc.assert(
      fc.property(policy, input, (written, asked) => {
        const evaluator = buildPolicyEvaluator(written);
        const { decision, allow, deny } = evaluator.explain(asked);

        expect(decision).toEqual(evaluator.decide(asked));
        expect(isPermitted(decision)).toBe(
          allow.some(({ holds }) => holds) && !deny.some(({ holds }) => holds),
        );
        const satisfied = allow
          .filter(({ holds }) => holds)
          .flatMap(({ criteria }) => criteria.filter((one) => one.isSatisfied));
        const reasons = isPermitted(decision) ? satisfied.map(({ reason }) => reason) : [];
        expect(decision.allowReasons).toEqual(expect.arrayContaining(reasons));
      }),
    );
  });

  test('permits another tool whenever it permits the called one', () => {
    fc.assert(
      fc.property(policy, ofUser, (written, asked) => {
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

  test('gives a reason why deny did not apply, for every request of a user', () => {
    fc.assert(
      fc.property(policy, ofUser, (written, asked) => {
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

function mapGroups(
  { allow, deny }: Policy,
  change: (criteria: readonly Criterion[]) => readonly Criterion[],
): Policy {
  const changed = (block: PolicyBlock): PolicyBlock =>
    Object.fromEntries(
      Object.entries(block).map(([name, criteria]: [string, readonly Criterion[]]) => [
        name,
        change(criteria),
      ]),
    );
  return { ...(allow && { allow: changed(allow) }), ...(deny && { deny: changed(deny) }) };
}

function withTool({ allow, deny }: Policy): Policy {
  const never: Criterion = { kind: 'mcp_tool', matcher: { is: 'no such tool' } };
  const denying = { ...deny, or: [...(deny?.or ?? []), never] };
  return allow === undefined ? { deny: denying } : { allow, deny: denying };
}
