import { isScopeToken } from '../discovery/scope-token.ts';

/** Far more than any real request has: beyond it, the URL gets too long for servers. */
const MAX_SCOPES = 50;

/**
 * Returns the scopes of all lists, each once, the first lists first. What an upstream and its authorization server
 * name is bounded. Attack: other scopes every hour, for ever, or so many with each token that the tokens of its
 * users fill the memory, and keep the process busy with reading them.
 */
export function scopeUnion(...lists: readonly (readonly string[])[]): readonly string[] {
  const scopes = lists.flat().filter(isScopeToken);
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}
