import type { CRITERIA } from './criteria.ts';
import type { CompiledBy } from './language/criterion-definition.ts';

/**
 * A route's policy in compiled form: every name known, every list non-empty.
 *
 * The groups of one block combine by OR. Deny wins over allow, and no `allow` denies.
 */
export interface Policy {
  readonly allow?: PolicyBlock;
  readonly deny?: PolicyBlock;
}

/** A block of a policy: its groups combine by OR. */
export interface PolicyBlock {
  /** Holds if all are true. */
  readonly and?: readonly Criterion[];
  /** Holds if any is true. */
  readonly or?: readonly Criterion[];
  /** Holds if none is true. */
  readonly not?: readonly Criterion[];
  /** Holds if at least one is false. */
  readonly nor?: readonly Criterion[];
}

/** One test of a policy, by the name of its kind. */
export type Criterion = CompiledBy<(typeof CRITERIA)[number]>;

/** Returns every criterion of a policy, in any order. */
export function criteriaOf({ allow = {}, deny = {} }: Policy): readonly Criterion[] {
  return [allow, deny].flatMap(({ and = [], or = [], not = [], nor = [] }) => [
    ...and,
    ...or,
    ...not,
    ...nor,
  ]);
}
