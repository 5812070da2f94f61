import type { Criterion, Policy, PolicyBlock, StringMatcher } from '../policy.ts';
import { constant, listOf, objectOf, oneOfKinds, optional, string, type Schema } from './schema.ts';

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

const criterion = oneOfKinds<Criterion>({
  accept: objectOf({ kind: constant('accept') }),
  reject: objectOf({ kind: constant('reject') }),
  authenticated_user: objectOf({ kind: constant('authenticated_user') }),
  user: objectOf({ kind: constant('user'), matcher }),
  email: objectOf({ kind: constant('email'), matcher }),
  domain: objectOf({ kind: constant('domain'), matcher }),
  groups: objectOf({ kind: constant('groups'), matcher }),
  claim: objectOf({ kind: constant('claim'), path: listOf(string(), { notEmpty: true }), matcher }),
  http_method: objectOf({ kind: constant('http_method'), matcher }),
  http_path: objectOf({ kind: constant('http_path'), matcher }),
  mcp_tool: objectOf({ kind: constant('mcp_tool'), matcher }),
});

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
