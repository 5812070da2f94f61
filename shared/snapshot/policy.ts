/**
 * A route's policy in compiled form: every name known, every list non-empty.
 *
 * The groups of one block combine by OR. Deny wins over allow, and no `allow` denies.
 */
export interface Policy {
  readonly allow?: PolicyBlock;
  readonly deny?: PolicyBlock;
}

export interface PolicyBlock {
  /** All are true. */
  readonly and?: readonly Criterion[];
  /** Any is true. */
  readonly or?: readonly Criterion[];
  /** None is true. */
  readonly not?: readonly Criterion[];
  /** At least one is false. */
  readonly nor?: readonly Criterion[];
}

/** One test a policy makes. Add an arm here and the compiler finds every place that must know. */
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
 * Operators on a string; all that are present must hold, and at least one is present.
 *
 * On a list of values (groups, a list-valued claim) they hold when one value satisfies all but
 * `not_in`; `not_in` holds when no value is listed.
 */
export interface StringMatcher {
  readonly is?: string;
  readonly starts_with?: string;
  readonly ends_with?: string;
  readonly contains?: string;
  readonly in?: readonly string[];
  readonly not_in?: readonly string[];
}

/** Every criterion of a policy, in no order. */
export function criteriaOf({ allow = {}, deny = {} }: Policy): readonly Criterion[] {
  return [allow, deny].flatMap(({ and = [], or = [], not = [], nor = [] }) => [
    ...and,
    ...or,
    ...not,
    ...nor,
  ]);
}
