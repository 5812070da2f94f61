import type { Criterion, StringMatcher } from '../../../shared/snapshot/policy.ts';
import { didYouMean } from '../../validate/did-you-mean.ts';
import { memberPath } from '../../validate/field-path.ts';
import { andThen, made, invalid, type CompileResult } from '../compile-result.ts';
import { compileMatcher, type MatcherRules } from './compile-matcher.ts';
import { requestPathProblem } from './request-path-problem.ts';

/** Compiles one criterion: an object with the criterion's name as its only key. */
export function compileCriterion(criterion: unknown, path: string): CompileResult<Criterion> {
  if (typeof criterion !== 'object' || criterion === null || Array.isArray(criterion)) {
    return invalid(path, 'InvalidPolicy', 'must be a criterion such as `email: user@example.com`');
  }
  const [first, ...others] = Object.entries<unknown>({ ...criterion });
  if (first === undefined) return invalid(path, 'InvalidPolicy', 'must name a criterion');
  if (others.length > 0) {
    return invalid(
      path,
      'InvalidPolicy',
      'must name one criterion; write others as separate items',
    );
  }
  const [name, value] = first;
  return compileNamed(name, value, memberPath(path, name));
}

type FlagName = 'accept' | 'reject' | 'authenticated_user';
type MatcherName = Exclude<Criterion['kind'], FlagName | 'claim'>;

const FLAGS: readonly FlagName[] = ['accept', 'reject', 'authenticated_user'];

const LIST: MatcherRules = { allowsHas: true };

const MATCHERS: Readonly<Record<MatcherName, MatcherRules>> = {
  user: {},
  email: {},
  domain: { problemOf: domainProblem },
  groups: LIST,
  http_method: { problemOf: methodProblem },
  http_path: { problemOf: requestPathProblem },
  mcp_tool: {},
};

const CLAIM = 'claim/';

function compileNamed(name: string, value: unknown, path: string): CompileResult<Criterion> {
  const flag = FLAGS.find((known) => known === name);
  if (flag !== undefined) return compileFlag(flag, value, path);
  if (name.startsWith(CLAIM)) return compileClaim(name.slice(CLAIM.length), value, path);
  if (isMatcherName(name)) {
    return andThen(compileMatcher(value, path, MATCHERS[name]), (matcher) =>
      made<Criterion>({ kind: name, matcher }),
    );
  }
  const hint =
    name === 'claim'
      ? '; write the claim behind it, as in claim/department'
      : didYouMean(name, [...FLAGS, ...Object.keys(MATCHERS)]);
  return invalid(path, 'InvalidPolicy', `is not a known criterion${hint}`);
}

function isMatcherName(name: string): name is MatcherName {
  return Object.hasOwn(MATCHERS, name);
}

function compileFlag(kind: FlagName, value: unknown, path: string): CompileResult<Criterion> {
  const isSet = value === true || value === null || value === '';
  return isSet ? made({ kind }) : invalid(path, 'InvalidPolicy', 'must be true');
}

function compileClaim(claim: string, value: unknown, path: string): CompileResult<Criterion> {
  const segments = claim.split('/');
  if (segments.includes('')) {
    return invalid(path, 'InvalidPolicy', 'must name a claim, such as claim/department');
  }
  return andThen(compileMatcher(value, path, LIST), (matcher: StringMatcher) =>
    made<Criterion>({ kind: 'claim', path: segments, matcher }),
  );
}

/** Rejects a value that never matches: in a `deny` it would let through what it names. */
function domainProblem(value: string): string | undefined {
  if (value.includes('*')) return 'must not have a wildcard; use ends_with: .example.com';
  return value.includes('@') ? 'must be the part of an e-mail address after "@"' : undefined;
}

/** RFC 9110, section 9.1: method names are case-sensitive. */
function methodProblem(value: string): string | undefined {
  if (value !== value.toUpperCase()) return 'must be in upper case: methods are case-sensitive';
  if (!/^[A-Z-]+$/.test(value)) return 'must be a method such as GET or M-SEARCH';
  return ['CONNECT', 'TRACE'].includes(value) ? 'is refused before any policy applies' : undefined;
}
