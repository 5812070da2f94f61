import type { StringMatcher } from '../language/criterion-definition.ts';
import { ENCODED_UNRESERVED, pathProblem, reservedPathProblem } from '../../paths/path-problem.ts';

/**
 * The problem with an operand of `http_path`; undefined if the path of a request can match it.
 *
 * Attack: paths that can be read in two ways are refused before the policy. A `deny` that is written
 * for one of them never applies, although its author relies on it.
 */
export function requestPathProblem(
  value: string,
  operator: keyof StringMatcher,
): string | undefined {
  switch (operator) {
    case 'is':
    case 'in':
    case 'not_in':
      return wholePathProblem(value) ?? reservedPathProblem(value);
    case 'starts_with':
      // The last segment may be incomplete: `/.` begins `/.git`, which is not a dot segment.
      return wholePathProblem(`${value}-`) ?? reservedPathProblem(value);
    case 'ends_with':
      return fragmentProblem(value, `${value}/`);
    case 'contains':
      return fragmentProblem(value, value);
  }
}

const DIGITS = 'must have two hexadecimal digits in upper case after "%"';

function wholePathProblem(path: string): string | undefined {
  return pathProblem(path) ?? (/%(?:[a-f]|.[a-f])/.test(path) ? DIGITS : undefined);
}

/** `ended` is the fragment, with a slash if a path can only end after it. */
function fragmentProblem(fragment: string, ended: string): string | undefined {
  if (/[^\x21-\x7e]|[?#\\]/.test(fragment)) {
    return 'must be written as in a URL: without spaces, "?" or "#", and with other characters encoded';
  }
  if (/%(?:[^\dA-F]|[\dA-F][^\dA-F])/.test(ended)) return DIGITS;
  if (/%(?:2F|5C|00)/.test(fragment)) return 'must not contain an encoded "/" or "\\"';
  if (ENCODED_UNRESERVED.test(fragment)) {
    return 'must not encode letters, digits, "-", ".", "_" and "~"';
  }
  if (fragment.includes('//')) return 'must not contain "//"';
  if (/\/\.{1,2}[/;]/.test(ended)) return 'must not contain "." or ".." segments';
  return undefined;
}
