import type { ExplainedCriterion, ExplainedGroup } from '../../proxy/policy/build-block.ts';
import type { PolicyExplanation } from '../../proxy/policy/decision.ts';
import { textOfTime } from '../../shared/policy/operands/read-time-of-day.ts';
import type { Criterion } from '../../shared/policy/policy.ts';

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
  const operand = operandOf(criterion);
  return {
    criterion: nameOf(criterion),
    ...(operand !== undefined && { operand }),
    ...(value !== undefined && { value }),
    result: outcome ?? null,
    satisfied: isSatisfied,
    reason,
  };
}

function nameOf(criterion: Criterion): string {
  if (!('path' in criterion)) return criterion.kind;
  const { kind, path } = criterion;
  const names = kind === 'mcp_tool_argument' ? path.map(escaped) : path;
  return [kind, ...names].join('/');
}

/** RFC 6901, section 3. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Writes the operand of a criterion as a policy does. */
function operandOf(criterion: Criterion): unknown {
  if ('matcher' in criterion) return criterion.matcher;
  switch (criterion.kind) {
    case 'source_ip':
      return criterion.networks;
    case 'date':
      return bounds(criterion, (ms) => new Date(ms).toISOString());
    case 'time_of_day':
      return { ...bounds(criterion, textOfTime), timezone: criterion.timezone };
    case 'day_of_week':
      return { days: criterion.days.map((day) => DAYS[day]), timezone: criterion.timezone };
    case 'accept':
    case 'reject':
    case 'authenticated_user':
    case 'cors_preflight':
      return undefined;
  }
}

function bounds(
  { after, before }: { readonly after?: number; readonly before?: number },
  write: (bound: number) => string,
): object {
  return {
    ...(after !== undefined && { after: write(after) }),
    ...(before !== undefined && { before: write(before) }),
  };
}
