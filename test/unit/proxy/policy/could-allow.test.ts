import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  buildPolicyEvaluator,
  isPermitted,
} from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { Criterion, Policy, PolicyBlock } from '../../../../shared/policy/policy.ts';
import { identity, ofUser, policy } from '../../../support/arbitrary-policies.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';

const ALICE = { subject: 'alice', groups: [], claims: {} };

describe('a policy evaluator', () => {
  test('says that a user could be permitted something if any request of the user is', () => {
    fc.assert(
      fc.property(policy, ofUser, (written, asked) => {
        const compiled = buildPolicyEvaluator(written);
        const { identity: user = ALICE } = asked;

        expect(!isPermitted(compiled.decide(asked)) || compiled.couldAllow(user)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('takes for what a user could do that everything but the user favours the request', () => {
    fc.assert(
      fc.property(policy, identity, (written, user) => {
        const favoured = buildPolicyEvaluator(favourable(written));

        expect(buildPolicyEvaluator(written).couldAllow(user)).toBe(
          isPermitted(favoured.decide(aPolicyInput({ identity: user }))),
        );
      }),
      { numRuns: 1000 },
    );
  });
});

const ABOUT_USERS = [
  ...['accept', 'reject', 'authenticated_user'],
  ...['user', 'email', 'domain', 'groups', 'claim'],
];

/** The policy with every other criterion replaced by what favours a request at its place. */
function favourable({ allow, deny }: Policy): Policy {
  const replaced = (block: PolicyBlock, isAllow: boolean): PolicyBlock =>
    Object.fromEntries(
      Object.entries(block).map(([name, criteria]: [string, readonly Criterion[]]) => {
        const isPlain = name === 'and' || name === 'or';
        const other: Criterion = { kind: isPlain === isAllow ? 'accept' : 'reject' };
        return [name, criteria.map((one) => (ABOUT_USERS.includes(one.kind) ? one : other))];
      }),
    );
  return {
    ...(allow && { allow: replaced(allow, true) }),
    ...(deny && { deny: replaced(deny, false) }),
  };
}
