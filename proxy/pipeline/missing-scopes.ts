import type { UpstreamResponse } from '../forwarding/response/response-plan.ts';
import { rawHeaderValues } from '../mcp/raw-header.ts';
import { parseBearerChallenge } from '../upstream-oauth/discovery/bearer-challenge.ts';
import { WWW_AUTHENTICATE } from './upstream-challenge.ts';

const FORBIDDEN = 403;

/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** More than any server needs for one request. */
const MAX_SCOPES = 100;

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
  const named = challenge.scope?.split(' ').filter((scope) => SCOPE_TOKEN.test(scope)) ?? [];
  return named.length === 0 ? undefined : named.slice(0, MAX_SCOPES);
}
