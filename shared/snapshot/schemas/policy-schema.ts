import { CRITERIA } from '../../policy/criteria.ts';
import type { OperandForms, StringMatcher } from '../../policy/language/criterion-definition.ts';
import type { Criterion, Policy, PolicyBlock } from '../../policy/policy.ts';
import {
  constant,
  integer,
  listOf,
  objectOf,
  oneOfKinds,
  optional,
  string,
  type Members,
  type Schema,
} from './schema.ts';

const texts = listOf(string());

const matcher = objectOf<StringMatcher>(
  {
    is: optional(string()),
    starts_with: optional(string()),
    ends_with: optional(string()),
    contains: optional(string()),
    in: optional(texts),
    not_in: optional(texts),
  },
  { notEmpty: true },
);

/** 9999-12-31 is before this. */
const MAX_INSTANT = 253_402_300_800_000;
const LAST_SECOND_OF_DAY = 86_399;

const instant = optional(integer(-MAX_INSTANT, MAX_INSTANT));
const second = optional(integer(0, LAST_SECOND_OF_DAY));

const FORMS: { readonly [Form in keyof OperandForms]: Members<OperandForms[Form]> } = {
  flag: {},
  matcher: { matcher },
  'matcher-at-path': { path: listOf(string(), { notEmpty: true }), matcher },
  networks: { networks: listOf(string(), { notEmpty: true }) },
  dates: { after: instant, before: instant },
  days: { days: listOf(integer(0, 6), { notEmpty: true }), timezone: string() },
  times: { timezone: string(), after: second, before: second },
};

const criterion = oneOfKinds<Criterion>(
  // One arm for each kind, with the members of its form.
  Object.fromEntries(
    CRITERIA.map(({ name, form }) => [name, objectOf({ kind: constant(name), ...FORMS[form] })]),
  ) as unknown as Parameters<typeof oneOfKinds<Criterion>>[0],
);

const criteria = optional(listOf(criterion, { notEmpty: true }));

const block = objectOf<PolicyBlock>(
  { and: criteria, or: criteria, not: criteria, nor: criteria },
  { notEmpty: true },
);

/**
 * Schema of a compiled policy. Empty blocks and lists are refused, because a `deny` without a
 * criterion would deny nothing. A policy without blocks denies everything.
 */
export const policySchema: Schema<Policy> = objectOf<Policy>({
  allow: optional(block),
  deny: optional(block),
});
