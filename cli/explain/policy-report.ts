import type { ExplainedCriterion, ExplainedGroup } from '../../proxy/policy/build-block.ts';
import type { PolicyExplanation } from '../../proxy/policy/decision.ts';
import { definitionOf } from '../../shared/policy/criteria.ts';

/** How the criteria of a policy decided about a request. */
export interface PolicyReport {
  /** Absent if the policy has no such block, or if it does not count without a user. */
  readonly allow?: BlockReport;
  readonly deny?: BlockReport;
}

/** A block, which is true if one of its groups is. */
export interface BlockReport {
  readonly result: boolean;
  readonly groups: readonly GroupReport[];
}

/** A group, which is true as its kind says. */
export interface GroupReport {
  readonly group: 'and' | 'or' | 'not' | 'nor';
  readonly result: boolean;
  readonly criteria: readonly CriterionReport[];
}

/** A criterion. */
export interface CriterionReport {
  /** As in the policy: `groups`, `claim/department`. */
  readonly criterion: string;
  /** What it compares with: operators, networks, or times. Absent if there is nothing. */
  readonly operand?: unknown;
  /** What the request has. Absent if it has none, or of a type that cannot be compared. */
  readonly value?: unknown;
  /** `null`: it cannot be decided, and counts against the request. */
  readonly result: boolean | null;
  /** Whether the group needs this result. */
  readonly satisfied: boolean;
  /** Its code in the authorization log. */
  readonly reason: string;
}

/** Makes the report of a policy. */
export function policyReport({ allow, deny }: PolicyExplanation): PolicyReport {
  return {
    ...(allow.length > 0 && { allow: blockReport(allow) }),
    ...(deny.length > 0 && { deny: blockReport(deny) }),
  };
}

function blockReport(groups: readonly ExplainedGroup[]): BlockReport {
  return {
    result: groups.some(({ holds }) => holds),
    groups: groups.map(({ group, holds, criteria }) => {
      return { group, result: holds, criteria: criteria.map(criterionReport) };
    }),
  };
}

function criterionReport(explained: ExplainedCriterion): CriterionReport {
  const { criterion, value, outcome, isSatisfied, reason } = explained;
  const definition = definitionOf(criterion.kind);
  const operand = definition?.writeOperand(criterion);
  const path = 'path' in criterion ? definition?.writePath?.(criterion.path) : undefined;
  return {
    criterion: criterion.kind + (path ?? ''),
    ...(operand !== undefined && { operand }),
    ...(value !== undefined && { value }),
    result: outcome ?? null,
    satisfied: isSatisfied,
    reason,
  };
}
