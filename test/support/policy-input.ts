import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';

/** A request of a signed-in user without any claims, as a policy sees it. */
export function aPolicyInput(changes: Partial<PolicyInput> = {}): PolicyInput {
  return {
    identity: { subject: 'alice', groups: [], claims: {} },
    method: 'POST',
    path: '/',
    clientAddress: '192.0.2.1',
    time: 0,
    isPreflight: false,
    mcpMethod: undefined,
    toolName: undefined,
    toolArguments: undefined,
    resources: [],
    prompt: undefined,
    ...changes,
  };
}
