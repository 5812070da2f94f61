import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The method of the request. */
export const httpMethod = matcherCriterion(
  {
    name: 'http_method',
    reasons: { whenTrue: 'http-method-ok', whenFalse: 'http-method-unauthorized' },
    row: { looksAt: 'the method of the request, in upper case', compares: 'a text, exactly' },
  },
  { read: ({ method }) => method, rules: { problemOf } },
);

/** RFC 9110, section 9.1: method names are case-sensitive. */
function problemOf(value: string): string | undefined {
  if (value !== value.toUpperCase()) return 'must be in upper case: methods are case-sensitive';
  if (!/^[A-Z-]+$/.test(value)) return 'must be a method such as GET or M-SEARCH';
  return ['CONNECT', 'TRACE'].includes(value) ? 'is refused before any policy applies' : undefined;
}
