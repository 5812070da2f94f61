import { hashToken, type TokenHash } from '../../crypto/tokens.ts';
import { InvalidGrantError } from '../../errors/oauth-errors.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import type { AuthorizationCode } from '../../records/authorization-code.ts';
import type { Grant } from '../../records/grant.ts';
import { parameter, requiredParameter } from '../parameters.ts';
import { verifiesChallenge } from '../pkce.ts';
import { refuseOtherResource } from '../resources.ts';
import { revokeGrant } from './revoke-grant.ts';
import type { GrantOptions, TokenRequest } from './token-request.ts';
import { tokenResponse } from './token-response.ts';

/** How long the second use of a code is known for what it is. */
const REUSE_MEMORY_SECONDS = 600;

/**
 * Redeems an authorization code (OAuth 2.1, section 4.1.3).
 *
 * The code is used up last, so a request that lacks the verifier, or anything else, does not burn it;
 * nor does one that fails in between, and its client tries again. Until then nobody holds what was
 * made. Its second use revokes what the first one got.
 */
export async function redeemAuthorizationCode(
  options: GrantOptions,
  request: TokenRequest,
): Promise<GatewayResponse> {
  const { stores, externalTokens, refreshTokens, now } = options;
  const { settings } = request;
  const hash = hashToken(requiredParameter(request.parameters, 'code'));
  const code = await stores.authorizationCodes.peek(hash);
  if (code === null) throw unknownCode();
  refuseMisuse(code, request);
  const session = await stores.sessions.get(code.sessionId);
  if (session === null) throw new InvalidGrantError('the session has ended');

  const { issuer, clientId, resource, scopes } = code;
  const { signInId } = session;
  const grant = { id: code.grantId, issuer, clientId, signInId, resource, scopes };
  const { token: refreshToken, reference } = refreshTokens.firstOf(grant.id);
  const { refreshTokenSeconds } = settings.tokens;
  // In this order: what ended before what stands on it would lock the client out.
  await stores.signIns.extend(signInId, refreshTokenSeconds);
  await stores.grants.create(grant, refreshTokenSeconds);
  await stores.refreshTokens.save(reference, refreshTokenSeconds);
  await useUp(hash, grant, options);
  const issuance = { grant, session, refreshToken, scopes };
  return tokenResponse(externalTokens, issuance, settings, now());
}

/** What the code is bound to. The wire does not tell which of these was wrong, but for `resource`. */
function refuseMisuse(code: AuthorizationCode, request: TokenRequest): void {
  const { client, issuer, parameters } = request;
  if (code.clientId !== client.id || code.issuer !== issuer.origin) {
    throw unknownCode();
  }
  const redirectUri = parameter(parameters, 'redirect_uri');
  const mayOmitRedirectUri = code.redirectUriWasSent !== true;
  if (redirectUri === undefined ? !mayOmitRedirectUri : redirectUri !== code.redirectUri) {
    throw new InvalidGrantError('redirect_uri is not that of the authorization request');
  }
  const verifier = parameter(parameters, 'code_verifier') ?? '';
  if (!verifiesChallenge(verifier, code.codeChallenge)) {
    throw new InvalidGrantError('code_verifier does not fit the code challenge');
  }
  refuseOtherResource(code.resource, parameters, issuer);
}

async function useUp(
  hash: TokenHash,
  { id: grantId, clientId }: Grant,
  { stores, logger }: GrantOptions,
): Promise<void> {
  const consumption = await stores.authorizationCodes.consume(hash, REUSE_MEMORY_SECONDS);
  if (consumption?.kind === 'consumed') return;
  await revokeGrant(stores, grantId);
  // It expired since it was looked at.
  if (consumption === null) throw unknownCode();
  // RFC 9700, section 4.5: whoever came first may have been the thief.
  const fields = { 'grant-id': grantId, 'client-id': clientId };
  logger.warn('authorization code reused', { reason: 'authorization-code-reused', ...fields });
  throw new InvalidGrantError('the code was used before');
}

function unknownCode(): InvalidGrantError {
  return new InvalidGrantError('the code is unknown or expired');
}
