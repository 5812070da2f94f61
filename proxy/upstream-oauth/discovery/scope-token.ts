/** Longer than any real one: beyond it, URLs get too long for servers. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** Returns whether a text is a scope that can be asked for (RFC 6749, section 3.3). */
export function isScopeToken(text: string): boolean {
  return SCOPE_TOKEN.test(text);
}
