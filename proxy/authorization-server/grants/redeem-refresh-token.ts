import { InvalidGrantError } from '../../errors/oauth-errors.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { keepSignIn } from '../../identity/session/listed-sign-ins.ts';
import type { Grant } from '../../records/grant.ts';
import type { RefreshTokenReference } from '../../records/refresh-token-reference.ts';
import { keepUsedClient } from '../clients/unused-client-lifetime.ts';
import { parameter, requiredParameter } from '../parameters.ts';
import { refuseOtherResource } from '../resources.ts';
import { narrowScope } from '../scope.ts';
import { auditDetailsOf } from './audit-details.ts';
import { listGrant } from './listed-grants.ts';
import { refuseOtherProvider } from './refuse-other-provider.ts';
import { refuseUnconnected } from './refuse-unconnected.ts';
import { revokeGrant } from './revoke-grant.ts';
import { openSuccessor, sealSuccessor } from './successor.ts';
import type { GrantOptions, TokenRequest } from './token-request.ts';
import { tokenResponse } from './token-response.ts';

/**
 * Exchanges a refresh token for its successor and an external token, for public and confidential
 * clients (OAuth 2.1, section 4.3).
 *
 * Within the grace period a repetition gets the same successor, so a client that refreshes twice at once
 * stays connected and the family never branches. After the grace period a repetition is a replay, which
 * ends the grant.
 *
 * An expired session is renewed first, so that a failed renewal does not use up the token. Neither does a
 * user who has to connect an upstream first.
 */
export async function redeemRefreshToken(
  options: GrantOptions,
  request: TokenRequest,
): Promise<GatewayResponse> {
  const { stores, externalTokens, sessionOf, now } = options;
  const { parameters, settings } = request;
  const token = requiredParameter(parameters, 'refresh_token');
  const reference = options.refreshTokens.open(token);
  if (reference === null) {
    throw unknownToken(options.refreshTokens.isOfUnknownKey(token) ? UNKNOWN_KEY : undefined);
  }
  const grant = await findGrant(reference, options, request);
  // Before the session: a replayed token must not make the gateway ask the identity provider.
  await refuseUnusable(reference, grant, options, request);
  const scopes = narrowScope(parameter(parameters, 'scope'), grant.scopes);
  refuseOtherResource(grant.resource, parameters, request.issuer);

  const session = await sessionOf(grant.signInId, request);
  if (session === null) throw new InvalidGrantError('the session has ended; sign in again');
  refuseOtherProvider(session, grant.resource, request);
  await refuseUnconnected(session, grant.resource, request, options);

  // In this order: a grant without its client or sign-in would lock the client out.
  const { refreshTokenSeconds } = settings.tokens;
  await keepUsedClient(stores.clients, grant.issuer, request.client, settings);
  await keepSignIn(session, stores, refreshTokenSeconds);
  await listGrant(session.identity, grant.id, stores, refreshTokenSeconds);
  await stores.grants.use(grant.id, now(), refreshTokenSeconds);
  const held = { token, reference, grant };
  const refreshToken = await rotate(held, options, request);
  options.audit.write('token-refreshed', request.context, {
    identity: session.identity,
    ...auditDetailsOf(grant, request.client),
  });
  const issuance = { grant, session, refreshToken, scopes };
  return tokenResponse(externalTokens, issuance, settings, now());
}

/** A refresh token, with its reference and its grant. */
interface HeldToken {
  readonly token: string;
  readonly reference: RefreshTokenReference;
  readonly grant: Grant;
}

/** Returns the live grant of a token; throws if it belongs to another client or issuer. */
async function findGrant(
  { grantId }: RefreshTokenReference,
  { stores }: GrantOptions,
  { client, issuer }: TokenRequest,
): Promise<Grant> {
  const grant = await stores.grants.get(grantId);
  if (grant?.clientId !== client.id || grant.issuer !== issuer.origin) throw unknownToken();
  return grant;
}

async function refuseUnusable(
  reference: RefreshTokenReference,
  grant: Grant,
  options: GrantOptions,
  request: TokenRequest,
): Promise<void> {
  const state = await options.stores.refreshTokens.stateOf(reference);
  if (state === null) throw unknownToken();
  if (state === 'replayed') await refuseReplay(grant, options, request);
}

async function rotate(
  { token, reference, grant }: HeldToken,
  options: GrantOptions,
  request: TokenRequest,
): Promise<string> {
  const { refreshTokenGraceSeconds, refreshTokenSeconds } = request.settings.tokens;
  const { stores, refreshTokens } = options;
  const successor = refreshTokens.successorOf(reference);
  const outcome = await stores.refreshTokens.rotate(reference, {
    successorHash: successor.reference.hash,
    sealedSuccessor: sealSuccessor(successor.token, token),
    graceSeconds: refreshTokenGraceSeconds,
    ttlSeconds: refreshTokenSeconds,
  });
  switch (outcome?.kind) {
    case 'rotated':
      return successor.token;
    case 'repeated':
      return repeatedSuccessor(outcome.sealedSuccessor, token);
    case 'replayed':
      return refuseReplay(grant, options, request);
    case undefined:
      throw unknownToken();
  }
}

async function refuseReplay(
  grant: Grant,
  { stores, audit }: GrantOptions,
  { client, context }: TokenRequest,
): Promise<never> {
  await revokeGrant(stores, grant.id);
  const details = { ...auditDetailsOf(grant, client), reason: 'refresh-token-replayed' };
  audit.write('refresh-token-replayed', context, details);
  audit.write('grant-revoked', context, details);
  throw new InvalidGrantError('the refresh token was used before');
}

function repeatedSuccessor(sealed: string, token: string): string {
  const successor = openSuccessor(sealed, token);
  if (successor === null) throw new Error('the successor of a refresh token does not open');
  return successor;
}

const UNKNOWN_KEY = 'unknown-sealing-key: the key that sealed it is not among the sealing keys';

/** `cause` is for the log; clients learn only that they need a new grant. */
function unknownToken(cause?: string): InvalidGrantError {
  const description = 'the refresh token is unknown, expired or revoked';
  return new InvalidGrantError(description, cause === undefined ? {} : { cause: new Error(cause) });
}
