import type { Criterion, PolicyBlock } from '../../shared/snapshot/policy.ts';
import type { PolicyInput } from './decision.ts';
import type { Place, PlacedCriterion } from './place-criterion.ts';
import type { Reason } from './reason.ts';

/** What a block says of a request. */
export interface Verdict {
  readonly holds: boolean;
  /** Codes of the criteria that made it so, each once, in the policy's order. */
  readonly reasons: readonly Reason[];
}

export type CompiledBlock = (input: PolicyInput) => Verdict;

interface Group {
  readonly needsAll: boolean;
  readonly criteria: readonly PlacedCriterion[];
}

/** In the order in which their reasons are told. */
const GROUPS = [
  { name: 'and', needsAll: true },
  { name: 'or', needsAll: false },
  { name: 'not', needsAll: true },
  { name: 'nor', needsAll: false },
] as const satisfies readonly { name: keyof PolicyBlock; needsAll: boolean }[];

/**
 * Compiles one block of a policy: it holds when any of its groups does.
 *
 * Throws on an empty block or group, and on a group that is not known here: `every` of nothing is
 * true, and would allow everyone.
 */
export function buildBlock(
  block: PolicyBlock,
  place: (criterion: Criterion, group: Place['group']) => PlacedCriterion,
): CompiledBlock {
  const unknown = Object.keys(block).find((key) => !GROUPS.some(({ name }) => name === key));
  if (unknown !== undefined) throw new Error(`a policy has an unknown group "${unknown}"`);
  const groups = GROUPS.flatMap(({ name, needsAll }): Group[] => {
    const criteria = block[name];
    if (criteria === undefined) return [];
    if (criteria.length === 0) throw new Error(`a policy has an empty group "${name}"`);
    return [{ needsAll, criteria: criteria.map((criterion) => place(criterion, name)) }];
  });
  if (groups.length === 0) throw new Error('a policy has a block without groups');
  return (input) => evaluate(groups, input);
}

/** Evaluates every criterion, and each once: reasons are whole, whatever was decided first. */
function evaluate(groups: readonly Group[], input: PolicyInput): Verdict {
  const forIt: Reason[] = [];
  const againstIt: Reason[] = [];
  let holds = false;
  for (const { criteria, needsAll } of groups) {
    const outcomes = criteria.map((criterion) => criterion.isSatisfied(input));
    const groupHolds = needsAll ? !outcomes.includes(false) : outcomes.includes(true);
    const reasons = groupHolds ? forIt : againstIt;
    criteria.forEach(({ whenSatisfied, whenUnsatisfied }, index) => {
      if (outcomes[index] !== groupHolds) return;
      const reason = groupHolds ? whenSatisfied : whenUnsatisfied;
      if (isSayable(reason, input) && !reasons.includes(reason)) reasons.push(reason);
    });
    holds ||= groupHolds;
  }
  return { holds, reasons: holds ? forIt : againstIt };
}

/** No tool is permitted where none is called. */
function isSayable(reason: Reason, { toolName }: PolicyInput): boolean {
  return reason !== 'mcp-tool-ok' || toolName !== undefined;
}
