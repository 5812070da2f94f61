import { hashToken, type TokenHash } from '../../crypto/tokens.ts';
import { InvalidGrantError } from '../../errors/oauth-errors.ts';
import { carriedTrace, continueTrace } from '../../http/carried-trace.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { keepSignIn } from '../../identity/session/listed-sign-ins.ts';
import type { AuthorizationCode } from '../../records/authorization-code.ts';
import type { Client } from '../../records/client.ts';
import type { Grant } from '../../records/grant.ts';
import type { Session } from '../../records/session.ts';
import { parameter, requiredParameter } from '../parameters.ts';
import { verifiesChallenge } from '../pkce.ts';
import { refuseOtherResource } from '../resources.ts';
import { auditDetailsOf } from './audit-details.ts';
import { listGrant } from './listed-grants.ts';
import { refuseOtherProvider } from './refuse-other-provider.ts';
import { revokeGrant } from './revoke-grant.ts';
import type { GrantOptions, TokenRequest } from './token-request.ts';
import { tokenResponse } from './token-response.ts';

/** How long a second use of a code is recognised. */
const REUSE_MEMORY_SECONDS = 600;

/**
 * Redeems an authorization code (OAuth 2.1, section 4.1.3).
 *
 * The code is consumed last, so that the client can try again after a request that was refused or failed;
 * no client has the tokens that were made before that. A second use revokes the tokens of the first.
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
  continueTrace(request.context.request, code);
  const session = await stores.sessions.get(code.sessionId);
  if (session === null) throw new InvalidGrantError('the session has ended');
  refuseOtherProvider(session, code.resource, request);

  const { trace: signInTrace } = carriedTrace(request.context.request);
  const grant = {
    ...grantOf(code, session, request.client, now()),
    ...(signInTrace !== undefined && { signInTrace }),
  };
  const { token: refreshToken, reference } = refreshTokens.firstOf(grant.id);
  const { refreshTokenSeconds } = settings.tokens;
  // In this order: a grant without its sign-in would lock the client out.
  await keepSignIn(session, stores, refreshTokenSeconds);
  await listGrant(session.identity, grant.id, stores, refreshTokenSeconds);
  await stores.grants.create(grant, refreshTokenSeconds);
  await stores.refreshTokens.save(reference, refreshTokenSeconds);
  await useUp(hash, grant, options, request);
  const details = { identity: session.identity, ...auditDetailsOf(grant, request.client) };
  options.audit.write('code-redeemed', request.context, details);
  options.audit.write('token-issued', request.context, details);
  const issuance = { grant, session, refreshToken, scopes: grant.scopes };
  return tokenResponse(externalTokens, issuance, settings, now());
}

function grantOf(
  { grantId, issuer, clientId, resource, scopes, redirectUri }: AuthorizationCode,
  { signInId }: Session,
  { metadata: { clientName } }: Client,
  createdAt: number,
): Grant {
  const names = clientName === undefined ? {} : { clientName };
  return {
    id: grantId,
    issuer,
    clientId,
    signInId,
    resource,
    scopes,
    redirectUri,
    createdAt,
    usedAt: createdAt,
    ...names,
  };
}

/** Refuses a request that does not match the one the code was issued for. */
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
  grant: Grant,
  { stores, audit }: GrantOptions,
  { client, context }: TokenRequest,
): Promise<void> {
  const consumption = await stores.authorizationCodes.consume(hash, REUSE_MEMORY_SECONDS);
  if (consumption?.kind === 'consumed') return;
  await revokeGrant(stores, grant.id);
  // The code expired after it was read.
  if (consumption === null) throw unknownCode();
  // RFC 9700, section 4.5: the first user may have been the thief.
  const details = { ...auditDetailsOf(grant, client), reason: 'authorization-code-reused' };
  audit.write('code-reused', context, details);
  audit.write('grant-revoked', context, details);
  throw new InvalidGrantError('the code was used before');
}

function unknownCode(): InvalidGrantError {
  return new InvalidGrantError('the code is unknown or expired');
}
