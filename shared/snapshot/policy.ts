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

/** One test of a policy. With a new arm here, TypeScript finds every place that must handle it. */
export type Criterion =
  | { readonly kind: 'accept' }
  | { readonly kind: 'reject' }
  | { readonly kind: 'authenticated_user' }
  | { readonly kind: 'user'; readonly matcher: StringMatcher }
  | { readonly kind: 'email'; readonly matcher: StringMatcher }
  | { readonly kind: 'domain'; readonly matcher: StringMatcher }
  | { readonly kind: 'groups'; readonly matcher: StringMatcher }
  /** `claim/a/b` reads claim `a`, then its member `b`; `path` is never empty. */
  | { readonly kind: 'claim'; readonly path: readonly string[]; readonly matcher: StringMatcher }
  | { readonly kind: 'http_method'; readonly matcher: StringMatcher }
  | { readonly kind: 'http_path'; readonly matcher: StringMatcher }
  | { readonly kind: 'mcp_tool'; readonly matcher: StringMatcher };

/**
 * Operators on a string. At least one is present, and all that are must hold.
 *
 * On a list of values (groups, a list-valued claim), one value must satisfy all operators but
 * `not_in`, and no value may be in `not_in`.
 */
export interface StringMatcher {
  readonly is?: string;
  readonly starts_with?: string;
  readonly ends_with?: string;
  readonly contains?: string;
  readonly in?: readonly string[];
  readonly not_in?: readonly string[];
}

/** Returns every criterion of a policy, in any order. */
export function criteriaOf({ allow = {}, deny = {} }: Policy): readonly Criterion[] {
  return [allow, deny].flatMap(({ and = [], or = [], not = [], nor = [] }) => [
    ...and,
    ...or,
    ...not,
    ...nor,
  ]);
}
