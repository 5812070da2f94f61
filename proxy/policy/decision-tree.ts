import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import type { PositionedCriterion } from './build-criterion.ts';
import type { Decision } from './decision.ts';

/** Makes the decision for the outcomes of all criteria, in their order. */
export type DecisionFor = (outcomes: readonly boolean[], callsTool: boolean) => Decision;

/** Outcomes of all criteria together that are remembered: far more than the requests to a route have. */
const MAX_REMEMBERED = 64;

/**
 * Decides by the outcomes of criteria, and remembers the decisions: requests with the same outcomes share one
 * object.
 *
 * Every criterion is evaluated once, so that the reasons are complete.
 */
export class DecisionTree {
  readonly #criteria: readonly PositionedCriterion[];
  readonly #decisionFor: DecisionFor;
  #ofToolCalls = new Branch();
  #ofOthers = new Branch();
  #remembered = 0;

  constructor(criteria: readonly PositionedCriterion[], decisionFor: DecisionFor) {
    this.#criteria = criteria;
    this.#decisionFor = decisionFor;
  }

  decide(input: PolicyInput): Decision {
    const callsTool = input.toolName !== undefined;
    let branch = callsTool ? this.#ofToolCalls : this.#ofOthers;
    for (const criterion of this.#criteria) branch = branch.after(criterion.isSatisfied(input));
    branch.decision ??= this.#remember(this.#decisionFor(branch.outcomes(), callsTool));
    return branch.decision;
  }

  /** When there are too many, all are forgotten. */
  #remember(decision: Decision): Decision {
    this.#remembered += 1;
    if (this.#remembered > MAX_REMEMBERED) {
      this.#ofToolCalls = new Branch();
      this.#ofOthers = new Branch();
      this.#remembered = 0;
    }
    return decision;
  }
}

/** The outcomes of the first criteria. */
class Branch {
  /** Those of one criterion less; undefined for none. */
  readonly #parent: Branch | undefined;
  /** The last outcome. */
  readonly #outcome: boolean;
  #satisfied: Branch | undefined;
  #unsatisfied: Branch | undefined;
  /** Present once all outcomes are known. */
  decision: Decision | undefined;

  constructor(parent?: Branch, outcome = false) {
    this.#parent = parent;
    this.#outcome = outcome;
  }

  /** Returns these outcomes and that of the next criterion. */
  after(isSatisfied: boolean): Branch {
    return isSatisfied
      ? (this.#satisfied ??= new Branch(this, true))
      : (this.#unsatisfied ??= new Branch(this, false));
  }

  outcomes(): boolean[] {
    const outcomes = this.#parent?.outcomes() ?? [];
    if (this.#parent !== undefined) outcomes.push(this.#outcome);
    return outcomes;
  }
}
