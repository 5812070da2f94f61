import type { AuthorizationServer } from 'oauth4webapi';

import { isScopeToken } from './scope-token.ts';

const OFFLINE_ACCESS = 'offline_access';

/**
 * Far more than any real upstream names. Attack: it names ten thousands, which the stores keep with each pending
 * connection.
 */
const MAX_NAMED = 50;

/** Where scopes can come from, in falling order. */
export interface ScopeSources {
  /** Of the route: asked for as they are. */
  readonly configured: readonly string[] | undefined;
  /** Value of `scope` in the challenge of the upstream. */
  readonly ofChallenge: string | undefined;
  /** Of the protected resource metadata. */
  readonly ofMetadata: readonly string[] | undefined;
  /** What the upstream has demanded since, or a user has already; added in any case. */
  readonly more: readonly string[];
}

/**
 * Returns the scopes to ask for; none if nothing says which (MCP specification, Authorization, "Scope Selection
 * Strategy"). Unless scopes are configured, `offline_access` is added to others exactly if the server lists it.
 */
export function selectScopes(
  { configured, ofChallenge, ofMetadata, more }: ScopeSources,
  { scopes_supported: listed }: Pick<AuthorizationServer, 'scopes_supported'>,
): readonly string[] {
  if (configured !== undefined) return distinct([...configured, ...more]);
  const named = (scopesIn(ofChallenge) ?? ofMetadata ?? []).filter(isScopeToken);
  const wanted = [...named.slice(0, MAX_NAMED), ...more].filter(
    (scope) => scope !== OFFLINE_ACCESS,
  );
  // Alone it would replace the scopes that the server grants without a parameter.
  const isAdded = wanted.length > 0 && listed?.includes(OFFLINE_ACCESS) === true;
  return distinct(isAdded ? [...wanted, OFFLINE_ACCESS] : wanted);
}

function scopesIn(text: string | undefined): readonly string[] | undefined {
  const scopes = text?.split(' ').filter((scope) => scope !== '');
  return scopes?.length === 0 ? undefined : scopes;
}

function distinct(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes)];
}
