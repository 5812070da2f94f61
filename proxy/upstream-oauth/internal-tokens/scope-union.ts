/** A scope of RFC 6749, section 3.3, of a length that any real one has. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** Far more than any real request has: beyond it, the URL gets too long for servers. */
const MAX_SCOPES = 50;

/**
 * Returns the scopes of all lists, each once, the first lists first. What an upstream names is bounded: it
 * could ask for other scopes every hour, for ever.
 */
export function scopeUnion(...lists: readonly (readonly string[])[]): readonly string[] {
  const scopes = lists.flat().filter((scope) => SCOPE.test(scope));
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}
