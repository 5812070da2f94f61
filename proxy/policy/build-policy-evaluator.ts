import { criteriaOf, type Criterion, type Policy } from '../../shared/snapshot/policy.ts';
import { buildBlock, type BlockEvaluator, type BlockResult } from './build-block.ts';
import type { PolicyEvaluator, Decision, PolicyInput } from './decision.ts';
import {
  buildCriterion,
  buildCriterionForAnyTool,
  type CriterionPosition,
  type PositionedCriterion,
} from './build-criterion.ts';
import { withToolReasons } from './tool-reasons.ts';

/**
 * Builds the evaluator of a policy.
 *
 * Both blocks are always evaluated, for the log. Throws if any part of the policy is unknown: ignoring a
 * part of `allow` or `deny` could permit more.
 */
export function buildPolicyEvaluator(policy: Policy): PolicyEvaluator {
  const allow = buildSide(policy, 'allow', buildCriterion);
  const deny = buildSide(policy, 'deny', buildCriterion);
  const decide = (input: PolicyInput): Decision =>
    withToolReasons(decisionOf(allow(input), deny(input)), input);
  if (!testsTool(policy)) {
    return {
      decide,
      namesTools: false,
      wouldPermitSomeTool: (input) => isPermitted(decide(input)),
    };
  }

  const allowForAnyTool = buildSide(policy, 'allow', buildCriterionForAnyTool);
  const denyForAnyTool = buildSide(policy, 'deny', buildCriterionForAnyTool);
  return {
    decide,
    namesTools: true,
    wouldPermitSomeTool: (input) => allowForAnyTool(input).holds && !denyForAnyTool(input).holds,
  };
}

/** Returns whether a decision permits the request: deny wins. */
export function isPermitted({ allow, deny }: Decision): boolean {
  return allow && !deny;
}

type BuildCriterion = (criterion: Criterion, position: CriterionPosition) => PositionedCriterion;

/** A block that is absent never holds: without `allow` nothing is allowed. */
function buildSide(
  policy: Policy,
  side: CriterionPosition['block'],
  build: BuildCriterion,
): BlockEvaluator {
  const block = policy[side];
  if (block === undefined) return () => ({ holds: false, reasons: [] });
  return buildBlock(block, (criterion, group) => build(criterion, { block: side, group }));
}

function decisionOf(allow: BlockResult, deny: BlockResult): Decision {
  return {
    allow: allow.holds,
    allowReasons: allow.reasons,
    deny: deny.holds,
    denyReasons: deny.reasons,
  };
}

function testsTool(policy: Policy): boolean {
  return criteriaOf(policy).some(({ kind }) => kind === 'mcp_tool');
}
