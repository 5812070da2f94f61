import type { PolicyInput, PolicyUser } from '../../shared/policy/language/policy-input.ts';
import type { BlockEvaluator } from './build-block.ts';
import { isAboutUser } from './build-criterion.ts';

/** The blocks of a policy. */
interface Blocks {
  readonly allow: BlockEvaluator;
  readonly deny: BlockEvaluator;
}

/**
 * See `PolicyEvaluator`. A criterion that is not about the user alone is satisfied in `allow` and not in `deny`, in
 * every group: no request does better.
 */
export function couldAllow(user: PolicyUser, { allow, deny }: Blocks): boolean {
  const input = requestOf(user);
  return couldHold(allow, input, true) && !couldHold(deny, input, false);
}

function couldHold(block: BlockEvaluator, input: PolicyInput, others: boolean): boolean {
  const outcomes = block.criteria.map((positioned) =>
    isAboutUser(positioned.criterion) ? positioned.isSatisfied(input) : others,
  );
  return block.resultOf(outcomes, false).holds;
}

/** Criteria about the user read nothing else of it. */
function requestOf(identity: PolicyUser): PolicyInput {
  return {
    identity,
    method: '',
    path: '',
    clientAddress: '',
    time: 0,
    isPreflight: false,
    mcpMethod: undefined,
    toolName: undefined,
    toolArguments: undefined,
    resources: [],
    prompt: undefined,
  };
}
