import {
  criteriaOf,
  type Criterion,
  type Policy,
  type PolicyBlock,
} from '../../../shared/policy/policy.ts';
import { memberPath } from '../../validate/field-path.ts';
import { all, andThen, invalid, made, type CompileResult } from '../compile-result.ts';
import { compileCriterion } from './compile-criterion.ts';
import { compileMembers } from './compile-members.ts';

/**
 * Far more than a person writes; `in` and `not_in` have lists of any length.
 *
 * Attack: every request evaluates all criteria, for each group of its user. A Route of a megabyte could
 * stall all others with ten requests a second.
 */
const MAX_CRITERIA = 1_000;

/**
 * Compiles a policy as its author wrote it (specification: Authorization policy for MCP).
 *
 * Anything unknown or empty is a problem, and never ignored: a `deny` without one of its clauses lets
 * through what it was written to stop.
 */
export function compilePolicy(policy: unknown, path: string): CompileResult<Policy> {
  const members = compileMembers<PolicyBlock>(policy, path, {
    what: 'block',
    known: ['allow', 'deny'],
    compile: (_name, block, blockPath) => compileBlock(block, blockPath),
  });
  return andThen(members, (compiled) =>
    criteriaOf(compiled).length > MAX_CRITERIA
      ? invalid(path, 'InvalidPolicy', `has more than ${String(MAX_CRITERIA)} criteria`)
      : made(compiled),
  );
}

function compileBlock(block: unknown, path: string): CompileResult<PolicyBlock> {
  return compileMembers<readonly Criterion[]>(block, path, {
    what: 'group',
    known: ['and', 'or', 'not', 'nor'],
    compile: (_name, list, listPath) => compileList(list, listPath),
  });
}

function compileList(list: unknown, path: string): CompileResult<readonly Criterion[]> {
  if (!Array.isArray(list)) return invalid(path, 'InvalidPolicy', 'must be a list of criteria');
  if (list.length === 0) return invalid(path, 'InvalidPolicy', 'must not be empty');
  const criteria: readonly unknown[] = list;
  return all(criteria.map((item, index) => compileCriterion(item, memberPath(path, index))));
}
