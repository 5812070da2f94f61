import { InvalidScopeError } from '../errors/oauth-errors.ts';

/** RFC 6749, section 3.3: scope tokens with one space between them. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

const MAX_SCOPE_LENGTH = 1024;

/**
 * Returns the scope tokens of a request, each once, in its order.
 *
 * Scopes are labels: they are shown, stored and echoed, and permit nothing by themselves.
 */
export function parseScope(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  if (text.length > MAX_SCOPE_LENGTH || !SCOPE.test(text)) {
    throw new InvalidScopeError('the scope is malformed');
  }
  return [...new Set(text.split(' '))];
}

/** Returns the scope of a refreshed token: the requested one, never more than was granted. */
export function narrowScope(
  text: string | undefined,
  granted: readonly string[],
): readonly string[] {
  const requested = parseScope(text);
  if (requested.length === 0) return granted;
  if (requested.every((scope) => granted.includes(scope))) return requested;
  throw new InvalidScopeError('the scope exceeds what was granted');
}
