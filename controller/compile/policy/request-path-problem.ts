import type { StringMatcher } from '../../../shared/snapshot/policy.ts';
import { ENCODED_UNRESERVED, pathProblem, reservedPathProblem } from '../path-match.ts';

/**
 * What is wrong with an operand of `http_path`; undefined when the path of a request could match.
 *
 * Attack: paths that can be read in two ways never get as far as the policy. A `deny` that is
 * written for one of them never applies, and lets through what its author took it to stop.
 */
export function requestPathProblem(
  value: string,
  operator: keyof StringMatcher,
): string | undefined {
  switch (operator) {
    case 'is':
    case 'in':
    case 'not_in':
      return wholePathFault(value) ?? reservedPathProblem(value);
    case 'starts_with':
      // What follows may belong to the last segment: `/.` begins `/.git`, and is no dot segment.
      return wholePathFault(`${value}-`) ?? reservedPathProblem(value);
    case 'ends_with':
      return fragmentFault(value, `${value}/`);
    case 'contains':
      return fragmentFault(value, value);
  }
}

const DIGITS = 'must have two hexadecimal digits in upper case after "%"';

function wholePathFault(path: string): string | undefined {
  return pathProblem(path) ?? (/%(?:[a-f]|.[a-f])/.test(path) ? DIGITS : undefined);
}

/** `ended` is the fragment with a slash where a path that has it must end. */
function fragmentFault(fragment: string, ended: string): string | undefined {
  if (/[^\x21-\x7e]|[?#\\]/.test(fragment)) {
    return 'must be written as in a URL: without spaces, "?" and "#", other characters encoded';
  }
  if (/%(?:[^\dA-F]|[\dA-F][^\dA-F])/.test(ended)) return DIGITS;
  if (/%(?:2F|5C|00)/.test(fragment)) return 'must not contain an encoded "/" or "\\"';
  if (ENCODED_UNRESERVED.test(fragment)) {
    return 'must not encode letters, digits, "-", ".", "_" and "~"';
  }
  if (fragment.includes('//')) return 'must not contain "//"';
  if (/\/\.{1,2}[/;]/.test(ended)) return 'must not contain "." and ".." segments';
  return undefined;
}
