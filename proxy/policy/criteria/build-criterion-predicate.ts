import type { Criterion, StringMatcher } from '../../../shared/snapshot/policy.ts';
import { loosePath } from '../../../shared/paths/loose-path.ts';
import type { Identity } from '../../records/session.ts';
import type { PolicyInput } from '../decision.ts';
import type { MatchedSubject, Reason } from '../reason.ts';
import { claimValues } from './claim-values.ts';
import { emailDomain } from './email-domain.ts';
import { foldAsciiCase } from './fold-ascii-case.ts';
import { buildStringMatcher, type Fold, type StringTest } from './string-matcher.ts';

/** The test of one criterion, with the reason for either result. `buildCriterion` replaces those of `mcp_tool`. */
export interface CriterionPredicate {
  readonly holds: (input: PolicyInput) => boolean;
  /** The same test for the path as an upstream may read it; absent where that cannot differ. */
  readonly alsoHolds?: (input: PolicyInput) => boolean;
  readonly whenTrue: Reason;
  readonly whenFalse: Reason;
}

/**
 * Builds the test of one criterion.
 *
 * Criteria about the user are false for anonymous requests, whatever the operator. E-mail addresses
 * and domains ignore the case of ASCII letters; everything else is exact.
 */
export function buildCriterionPredicate(criterion: Criterion): CriterionPredicate {
  switch (criterion.kind) {
    case 'accept':
      return { holds: () => true, whenTrue: 'accept', whenFalse: 'accept' };
    case 'reject':
      return { holds: () => false, whenTrue: 'reject', whenFalse: 'reject' };
    case 'authenticated_user':
      return {
        holds: (input) => input.identity !== undefined,
        whenTrue: 'authenticated-user',
        whenFalse: 'user-unauthenticated',
      };
    case 'user':
      return named('user', ofUser(buildStringMatcher(criterion.matcher), subjectOf));
    case 'email':
      return named('email', ofUser(caseless(criterion.matcher), emailOf));
    case 'domain':
      return named('domain', ofUser(caseless(criterion.matcher), domainOf));
    case 'groups':
      return named('groups', ofUserList(buildStringMatcher(criterion.matcher), groupsOf));
    case 'claim':
      return named(
        'claim',
        ofUserList(buildStringMatcher(criterion.matcher), claimAt(criterion.path)),
      );
    case 'http_method':
      return named('http-method', ofRequest(buildStringMatcher(criterion.matcher), 'method'));
    case 'http_path':
      return {
        ...named('http-path', ofRequest(buildStringMatcher(criterion.matcher), 'path')),
        alsoHolds: ofRequest(buildStringMatcher(criterion.matcher, looselyRead), 'path'),
      };
    case 'mcp_tool':
      // Specification, evaluation rule 1: false for everything but `tools/call`, `not_in` included.
      return named('mcp-tool', ofRequest(buildStringMatcher(criterion.matcher), 'toolName'));
  }
}

/** All criteria of a policy read the same path. Attack: a policy may have thousands of them. */
const looselyRead = rememberLast(loosePath);

function rememberLast(fold: Fold): Fold {
  let last = '';
  let folded = fold(last);
  return (text) => {
    if (text !== last) [last, folded] = [text, fold(text)];
    return folded;
  };
}

type Holds = CriterionPredicate['holds'];

function named(subject: MatchedSubject, holds: Holds): CriterionPredicate {
  return { holds, whenTrue: `${subject}-ok`, whenFalse: `${subject}-unauthorized` };
}

/** An absent part of a request satisfies no operator. */
function ofRequest(matcher: StringTest, part: 'method' | 'path' | 'toolName'): Holds {
  return (input) => {
    const value = input[part];
    return value !== undefined && matcher.matches(value);
  };
}

const NONE: readonly string[] = [];

/** An absent attribute of a user equals none of the values, so it satisfies `not_in`. */
function ofUser(matcher: StringTest, read: (user: Identity) => string | undefined): Holds {
  return ({ identity }) => {
    if (identity === undefined) return false;
    const value = read(identity);
    return value === undefined ? matcher.matchesAny(NONE) : matcher.matches(value);
  };
}

function ofUserList(matcher: StringTest, read: (user: Identity) => readonly string[]): Holds {
  return ({ identity }) => identity !== undefined && matcher.matchesAny(read(identity));
}

function caseless(matcher: StringMatcher): StringTest {
  return buildStringMatcher(matcher, foldAsciiCase);
}

function subjectOf({ subject }: Identity): string {
  return subject;
}

function emailOf({ email }: Identity): string | undefined {
  return email;
}

function domainOf({ email }: Identity): string | undefined {
  return email === undefined ? undefined : emailDomain(email);
}

function groupsOf({ groups }: Identity): readonly string[] {
  return groups;
}

function claimAt(path: readonly string[]): (user: Identity) => readonly string[] {
  return ({ claims }) => claimValues(claims, path);
}
