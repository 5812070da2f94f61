import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { json } from '../../http/responses.ts';
import type { Session } from '../../records/session.ts';
import type { Grant } from '../../records/grant.ts';
import type { ExternalTokens } from '../../authentication/external-tokens.ts';

const SECOND = 1000;

/** The tokens that a token response issues. */
export interface Issuance {
  readonly grant: Grant;
  readonly session: Session;
  readonly refreshToken: string;
  /** The scopes of the grant, or some of them. */
  readonly scopes: readonly string[];
}

/**
 * Returns the response with a refresh token and an external token, which is issued here. The external
 * token never outlives its session.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749#section-5.1 RFC 6749, section 5.1}
 */
export function tokenResponse(
  externalTokens: ExternalTokens,
  { grant, session, refreshToken, scopes }: Issuance,
  settings: CompiledSettings,
  now: number,
): GatewayResponse {
  const lifetime = settings.tokens.externalTokenSeconds * SECOND;
  const expiresAt = Math.max(now, Math.min(now + lifetime, session.expiresAt));
  const accessToken = externalTokens.issue({
    gatewayId: settings.gatewayId,
    issuer: grant.issuer,
    sessionId: session.id,
    grantId: grant.id,
    clientId: grant.clientId,
    audience: grant.resource,
    issuedAt: now,
    expiresAt,
  });
  const body = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: Math.floor((expiresAt - now) / SECOND),
    refresh_token: refreshToken,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  return json(200, body, { pragma: 'no-cache' });
}
