import { definitionOf } from '../../shared/policy/criteria.ts';
import type { ReadFact } from '../../shared/policy/language/criterion-definition.ts';
import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import {
  criteriaOf,
  type Criterion,
  type Policy,
  type PolicyBlock,
} from '../../shared/policy/policy.ts';
import { buildBlock, type BlockEvaluator, type BlockResult } from './build-block.ts';
import type { PolicyEvaluator, Decision, PolicyExplanation } from './decision.ts';
import {
  buildCriterion,
  buildCriterionForAnyTool,
  isAboutToolCall,
  type CriterionPosition,
  type PositionedCriterion,
} from './build-criterion.ts';
import { DecisionTree } from './decision-tree.ts';
import { couldAllow } from './could-allow.ts';
import { preflightBlock } from './preflight-block.ts';
import { withToolReasons } from './tool-reasons.ts';

/**
 * Builds the evaluator of a policy.
 *
 * Both blocks are always evaluated, for the log. Throws if any part of the policy is unknown: ignoring a
 * part of `allow` or `deny` could permit more.
 */
export function buildPolicyEvaluator(policy: Policy): PolicyEvaluator {
  const ofUsers = buildBlocks(policy, buildCriterion);
  const ofPreflights = preflightBlocks(policy, ofUsers);
  const blocksFor = ({ identity, isPreflight }: PolicyInput): Blocks | undefined => {
    if (identity !== undefined) return ofUsers;
    return isPreflight ? ofPreflights : undefined;
  };
  const decide = (input: PolicyInput): Decision => {
    const blocks = blocksFor(input);
    return blocks?.tree.decide(input) ?? NOBODY;
  };
  const explain = (input: PolicyInput): PolicyExplanation => {
    const { allow = NEVER, deny = NEVER } = blocksFor(input) ?? {};
    return { decision: decide(input), allow: allow.explain(input), deny: deny.explain(input) };
  };
  return {
    decide,
    explain,
    reads: readsOf(policy),
    wouldPermitSomeTool: forAnyTool(policy, decide),
    couldAllow: (user) => couldAllow(user, ofUsers),
  };
}

/** Returns whether a decision permits the request: deny wins. */
export function isPermitted({ allow, deny }: Decision): boolean {
  return allow && !deny;
}

/** Whoever is not signed in is refused, even by a policy with `accept`. */
const NOBODY: Decision = {
  allow: false,
  allowReasons: ['user-unauthenticated'],
  deny: false,
  denyReasons: [],
};

interface Blocks {
  readonly allow: BlockEvaluator;
  readonly deny: BlockEvaluator;
  /** Decides by both. */
  readonly tree: DecisionTree;
}

type BuildCriterion = (criterion: Criterion, position: CriterionPosition) => PositionedCriterion;

function buildBlocks({ allow, deny }: Policy, build: BuildCriterion): Blocks {
  return blocksOf(buildSide(allow, 'allow', build), buildSide(deny, 'deny', build));
}

/** Undefined if the policy allows no preflight without a user. */
function preflightBlocks({ allow }: Policy, { deny }: Blocks): Blocks | undefined {
  const block = allow && preflightBlock(allow);
  return block && blocksOf(buildSide(block, 'allow', buildCriterion), deny);
}

/** A block that is absent never holds: without `allow` nothing is allowed. */
const NEVER: BlockEvaluator = {
  criteria: [],
  resultOf: () => ({ holds: false, reasons: [] }),
  explain: () => [],
};

function buildSide(
  block: PolicyBlock | undefined,
  side: CriterionPosition['block'],
  build: BuildCriterion,
): BlockEvaluator {
  if (block === undefined) return NEVER;
  return buildBlock(block, (criterion, group) => build(criterion, { block: side, group }));
}

function blocksOf(allow: BlockEvaluator, deny: BlockEvaluator): Blocks {
  const { length } = allow.criteria;
  const tree = new DecisionTree([...allow.criteria, ...deny.criteria], (outcomes, callsTool) => {
    const allowed = allow.resultOf(outcomes.slice(0, length), callsTool);
    const denied = deny.resultOf(outcomes.slice(length), callsTool);
    return withToolReasons(asDecision(allowed, denied), callsTool);
  });
  return { allow, deny, tree };
}

function asDecision(allow: BlockResult, deny: BlockResult): Decision {
  return {
    allow: allow.holds,
    allowReasons: allow.reasons,
    deny: deny.holds,
    denyReasons: deny.reasons,
  };
}

function forAnyTool(
  policy: Policy,
  decide: PolicyEvaluator['decide'],
): PolicyEvaluator['wouldPermitSomeTool'] {
  if (!criteriaOf(policy).some(isAboutToolCall)) return (input) => isPermitted(decide(input));
  const { tree } = buildBlocks(policy, buildCriterionForAnyTool);
  return (input) => input.identity !== undefined && isPermitted(tree.decide(input));
}

function readsOf(policy: Policy): ReadonlySet<ReadFact> {
  return new Set(criteriaOf(policy).flatMap(({ kind }) => definitionOf(kind)?.reads ?? []));
}
