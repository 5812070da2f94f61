import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { InvalidGrantError } from '../../errors/oauth-errors.ts';
import type { EndpointResponse } from '../../http/endpoint.ts';
import type { Grant } from '../../store/grant-store.ts';
import { parameter, requiredParameter } from '../parameters.ts';
import { refuseOtherResource } from '../resources.ts';
import { narrowScope } from '../scope.ts';
import { revokeGrant } from './revoke-grant.ts';
import { openSuccessor, sealSuccessor } from './successor.ts';
import type { GrantDependencies, TokenRequest } from './token-request.ts';
import { tokenResponse } from './token-response.ts';

const PREFIX = 'gtr_';

/** A refresh token: random, since all there is to say of it is in the store. */
export function newRefreshToken(): string {
  return randomToken(PREFIX);
}

/** Whether a token claims to be a refresh token. */
export function isRefreshToken(token: string): boolean {
  return token.startsWith(PREFIX);
}

/**
 * Exchanges a refresh token for its successor and an external token, for clients of every kind
 * (OAuth 2.1, section 4.3).
 *
 * Within the grace a repetition gets the same successor, so a client that refreshes twice at once
 * stays connected and the family never branches. After it, it is a replay, which ends the grant.
 *
 * Where the session has expired a new one is made first: a token is used up by nothing that failed.
 */
export async function refresh(
  dependencies: GrantDependencies,
  request: TokenRequest,
): Promise<EndpointResponse> {
  const { stores, externalTokens, sessionOf, now } = dependencies;
  const { parameters, settings } = request;
  const token = requiredParameter(parameters, 'refresh_token');
  const grant = await findGrant(token, dependencies, request);
  // Before anything else: nobody is asked who the user is by now for the sake of a thief.
  if (await stores.refreshTokens.isReplay(hashToken(token)))
    await refuseReplay(grant, dependencies);
  const scopes = narrowScope(parameter(parameters, 'scope'), grant.scopes);
  refuseOtherResource(grant.resource, parameters, request.issuer);

  const session = await sessionOf(grant.signInId, request);
  if (session === null) throw new InvalidGrantError('the session has ended; sign in again');

  // In this order: what ended before what stands on it would lock the client out.
  const { refreshTokenSeconds } = settings.tokens;
  await stores.signIns.extend(grant.signInId, refreshTokenSeconds);
  await stores.grants.extend(grant.id, refreshTokenSeconds);
  const refreshToken = await rotate(token, grant, dependencies, settings.tokens);
  const issuance = { grant, session, refreshToken, scopes };
  return tokenResponse(externalTokens, issuance, settings, now());
}

/** The live grant of a token, if it is this client's and was made at this issuer. */
async function findGrant(
  token: string,
  { stores }: GrantDependencies,
  { client, issuer }: TokenRequest,
): Promise<Grant> {
  const record = await stores.refreshTokens.get(hashToken(token));
  const grant = record === null ? null : await stores.grants.get(record.grantId);
  if (grant?.clientId !== client.id || grant.issuer !== issuer.origin) {
    throw new InvalidGrantError('the refresh token is unknown, expired or revoked');
  }
  return grant;
}

async function rotate(
  token: string,
  grant: Grant,
  dependencies: GrantDependencies,
  { refreshTokenGraceSeconds, refreshTokenSeconds }: TokenRequest['settings']['tokens'],
): Promise<string> {
  const successor = newRefreshToken();
  const outcome = await dependencies.stores.refreshTokens.rotate(hashToken(token), {
    successorHash: hashToken(successor),
    sealedSuccessor: sealSuccessor(successor, token),
    graceSeconds: refreshTokenGraceSeconds,
    ttlSeconds: refreshTokenSeconds,
  });
  switch (outcome?.kind) {
    case 'rotated':
      return successor;
    case 'repeated':
      return repeatedSuccessor(outcome.sealedSuccessor, token);
    case 'replayed':
      return refuseReplay(grant, dependencies);
    case undefined:
      throw new InvalidGrantError('the refresh token is unknown, expired or revoked');
  }
}

async function refuseReplay(
  { id, clientId }: Grant,
  { stores, logger }: GrantDependencies,
): Promise<never> {
  await revokeGrant(stores, id);
  const fields = { 'grant-id': id, 'client-id': clientId };
  logger.warn('refresh token replayed', { reason: 'refresh-token-replayed', ...fields });
  throw new InvalidGrantError('the refresh token was used before');
}

function repeatedSuccessor(sealed: string, token: string): string {
  const successor = openSuccessor(sealed, token);
  if (successor === null) throw new Error('the successor of a refresh token does not open');
  return successor;
}
