import type { UpstreamResponse } from '../forwarding/response/response-plan.ts';
import { rawHeaderValues } from '../mcp/raw-header.ts';
import { parseBearerChallenge } from '../upstream-oauth/discovery/bearer-challenge.ts';
import { isScopeToken } from '../upstream-oauth/discovery/scope-token.ts';
import { WWW_AUTHENTICATE } from './upstream-challenge.ts';

const FORBIDDEN = 403;

/**
 * Returns the scopes that a token lacks for a request, as the upstream's response says; undefined if it says no
 * such thing.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6750#section-3.1 RFC 6750, section 3.1}
 */
export function missingScopes({
  status,
  rawHeaders,
}: Pick<UpstreamResponse, 'status' | 'rawHeaders'>): readonly string[] | undefined {
  if (status !== FORBIDDEN) return undefined;
  const challenge = parseBearerChallenge(rawHeaderValues(rawHeaders, WWW_AUTHENTICATE));
  if (challenge?.error !== 'insufficient_scope') return undefined;
  const named = challenge.scope?.split(' ').filter(isScopeToken) ?? [];
  return named.length === 0 ? undefined : named;
}
