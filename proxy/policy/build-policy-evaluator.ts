import { criteriaOf, type Criterion, type Policy } from '../../shared/snapshot/policy.ts';
import { buildBlock, type CompiledBlock, type Verdict } from './build-block.ts';
import type { PolicyEvaluator, Decision, PolicyInput } from './decision.ts';
import {
  placeCriterion,
  placeForAnyTool,
  type Place,
  type PlacedCriterion,
} from './place-criterion.ts';
import { tellOfTool } from './tell-of-tool.ts';

/**
 * Compiles a policy to closures.
 *
 * Both blocks are always evaluated, for the log. A policy that is not understood whole throws: what
 * is left out of an `allow` or a `deny` could only widen what is permitted.
 */
export function buildPolicyEvaluator(policy: Policy): PolicyEvaluator {
  const allow = compileSide(policy, 'allow', placeCriterion);
  const deny = compileSide(policy, 'deny', placeCriterion);
  const decide = (input: PolicyInput): Decision => decisionOf(allow(input), deny(input));
  if (!asksForTool(policy)) {
    return { decide, permitsAnotherTool: (input) => isPermitted(decide(input)) };
  }

  const bestAllow = compileSide(policy, 'allow', placeForAnyTool);
  const leastDeny = compileSide(policy, 'deny', placeForAnyTool);
  return {
    decide: (input) => tellOfTool(decide(input), input),
    permitsAnotherTool: (input) => bestAllow(input).holds && !leastDeny(input).holds,
  };
}

/** Whether a decision permits the request: deny wins. */
export function isPermitted({ allow, deny }: Decision): boolean {
  return allow && !deny;
}

type PlaceFunction = (criterion: Criterion, place: Place) => PlacedCriterion;

/** A block that is absent never holds: without `allow` nothing is allowed. */
function compileSide(policy: Policy, side: Place['block'], place: PlaceFunction): CompiledBlock {
  const block = policy[side];
  if (block === undefined) return () => ({ holds: false, reasons: [] });
  return buildBlock(block, (criterion, group) => place(criterion, { block: side, group }));
}

function decisionOf(allow: Verdict, deny: Verdict): Decision {
  return {
    allow: allow.holds,
    allowReasons: allow.reasons,
    deny: deny.holds,
    denyReasons: deny.reasons,
  };
}

function asksForTool(policy: Policy): boolean {
  return criteriaOf(policy).some(({ kind }) => kind === 'mcp_tool');
}
