import type { ReadFact } from '../../shared/policy/language/criterion-definition.ts';
import type { PolicyInput, PolicyUser } from '../../shared/policy/language/policy-input.ts';
import type { ExplainedGroup } from './build-block.ts';

/** The result of a policy for one request, which is permitted if `allow && !deny`. */
export interface Decision {
  readonly allow: boolean;
  /** Codes such as `domain-ok` that explain `allow`, each once, in the order and, or, not, nor. */
  readonly allowReasons: readonly string[];
  readonly deny: boolean;
  readonly denyReasons: readonly string[];
}

/** A policy ready to be evaluated. Pure: no I/O, no clock; evaluation never throws. */
export interface PolicyEvaluator {
  /**
   * Decides a request. One without a user is not permitted, unless it is a preflight that
   * `cors_preflight` allows.
   */
  decide(input: PolicyInput): Decision;
  /** Decides a request, and shows how each criterion took part. */
  explain(input: PolicyInput): PolicyExplanation;
  /** The parts of a request that its criteria read; the others may be left out of an input. */
  readonly reads: ReadonlySet<ReadFact>;
  /**
   * Returns whether the request would be permitted if every criterion about the call of a tool favoured
   * it. If so, only the call is denied, and the model gets the answer.
   */
  wouldPermitSomeTool(input: PolicyInput): boolean;
  /**
   * Returns whether a user could be permitted something: every criterion that is not about the user alone
   * favours the request. If any request of the user is permitted, this is true.
   */
  couldAllow(user: PolicyUser): boolean;
}

/** A decision with the criteria behind it. */
export interface PolicyExplanation {
  readonly decision: Decision;
  /** The groups of each block; empty for a block that is absent, or takes no part. */
  readonly allow: readonly ExplainedGroup[];
  readonly deny: readonly ExplainedGroup[];
}
