import { describe, expect, test } from '@jest/globals';

import { compilePolicy as compileForSnapshot } from '../../../controller/compile/policy/compile-policy.ts';
import { buildPolicyEvaluator, isPermitted } from '../../../proxy/policy/build-policy-evaluator.ts';
import type { PolicyInput } from '../../../proxy/policy/decision.ts';
import type { Policy } from '../../../shared/snapshot/policy.ts';
import { readPolicyCases, type PolicyCase } from './policy-case.ts';

describe.each(readPolicyCases())('$policyCase.description ($file)', ({ policyCase }) => {
  const { policy, users, requests } = policyCase;
  const compiled = buildPolicyEvaluator(snapshotForm(policy));

  test.each(requests)('$name', ({ user, method = 'POST', path = '/mcp', tool, want }) => {
    const input: PolicyInput = { identity: identityOf(users, user), method, path, toolName: tool };

    const decision = compiled.decide(input);

    const { permitted, anotherTool = permitted, ...reasons } = want;
    expect({
      allow: decision.allow,
      allowWhy: decision.allowReasons,
      deny: decision.deny,
      denyWhy: decision.denyReasons,
    }).toEqual(reasons);
    expect(isPermitted(decision)).toBe(permitted);
    expect(compiled.wouldPermitSomeTool(input)).toBe(anotherTool);
  });
});

function identityOf(users: PolicyCase['users'], name: string | undefined): PolicyInput['identity'] {
  if (name === undefined) return undefined;
  const user = users[name];
  if (user === undefined) throw new Error(`no user "${name}"`);
  return { provider: 'idp', groups: [], claims: {}, ...user };
}

/** Compiles the policy as the control plane does, so that both sides are tested together. */
function snapshotForm(policy: unknown): Policy {
  const outcome = compileForSnapshot(policy, 'spec.policy');
  if (outcome.kind === 'made') return outcome.value;
  throw new Error(JSON.stringify(outcome.problems));
}
