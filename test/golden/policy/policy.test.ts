import { describe, expect, test } from '@jest/globals';

import { compilePolicy as compileForSnapshot } from '../../../controller/compile/policy/compile-policy.ts';
import { buildPolicyEvaluator, isPermitted } from '../../../proxy/policy/build-policy-evaluator.ts';
import type { PolicyInput } from '../../../shared/policy/language/policy-input.ts';
import type { Policy } from '../../../shared/policy/policy.ts';
import { aPolicyInput } from '../../support/policy-input.ts';
import { readPolicyCases, type PolicyCase, type PolicyRequest } from './policy-case.ts';

describe.each(readPolicyCases())('$policyCase.description ($file)', ({ policyCase }) => {
  const { policy, users, requests } = policyCase;
  const compiled = buildPolicyEvaluator(snapshotForm(policy));

  test.each(requests)('$name', ({ want, ...asked }) => {
    const input = inputOf(users, asked);

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

function inputOf(users: PolicyCase['users'], asked: Omit<PolicyRequest, 'want'>): PolicyInput {
  const { user, method = 'POST', path = '/mcp', address, time, preflight = false } = asked;
  return aPolicyInput({
    identity: identityOf(users, user),
    method,
    path,
    ...(address !== undefined && { clientAddress: address }),
    time: time === undefined ? 0 : Date.parse(time),
    isPreflight: preflight,
    mcpMethod: asked.mcpMethod,
    toolName: asked.tool,
    toolArguments: asked.tool === undefined ? undefined : (asked.arguments ?? {}),
    resources: asked.resources ?? [],
    prompt: asked.prompt,
  });
}

function identityOf(users: PolicyCase['users'], name: string | undefined): PolicyInput['identity'] {
  if (name === undefined) return undefined;
  const user = users[name];
  if (user === undefined) throw new Error(`no user "${name}"`);
  return { groups: [], claims: {}, ...user };
}

/** Compiles the policy as the control plane does, so that both sides are tested together. */
function snapshotForm(policy: unknown): Policy {
  const outcome = compileForSnapshot(policy, 'spec.policy');
  if (outcome.kind === 'made') return outcome.value;
  throw new Error(JSON.stringify(outcome.problems));
}
