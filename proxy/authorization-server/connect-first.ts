import type { CompiledUpstreamOAuth } from '../../shared/snapshot/compiled-upstream-oauth.ts';
import { couldUseRoute } from '../configuration/could-use-route.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { ConnectLinks } from '../connect/connect-links.ts';
import { randomToken } from '../crypto/tokens.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { carriedTrace } from '../http/carried-trace.ts';
import { networksOf } from '../http/network-of.ts';
import { seeOther } from '../http/responses.ts';
import type { Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { InternalTokens } from '../upstream-oauth/internal-tokens/internal-tokens.ts';
import type { ApprovedRequest } from './issue-code.ts';

/** How long an approved request waits for its user at the upstream's authorization server, and before. */
const APPROVED_SECONDS = 600;

/** What connects users before their clients get a code. */
export interface ConnectFirstOptions {
  readonly stores: Pick<Stores, 'pendingAuthorizations'>;
  readonly connectLinks: Pick<ConnectLinks, 'urlFor'>;
  readonly internalTokens: Pick<InternalTokens, 'isConnected'>;
}

/**
 * Returns what a user has to connect before a client can use a route; undefined if nothing. A user whom the
 * policy can allow nothing is not sent to connect: their calls are refused either way.
 */
export async function connectionNeeded(
  route: GatewayRoute | undefined,
  { identity }: Session,
  { configuration }: Pick<EndpointContext, 'configuration'>,
  { internalTokens }: Pick<ConnectFirstOptions, 'internalTokens'>,
): Promise<CompiledUpstreamOAuth | undefined> {
  const upstreamOAuth = route?.compiled.mcpServer?.upstreamOAuth;
  if (route === undefined || upstreamOAuth === undefined) return undefined;
  if (!couldUseRoute(identity, route, configuration)) return undefined;
  const isConnected = await internalTokens.isConnected(identity, route.compiled);
  return isConnected ? undefined : upstreamOAuth;
}

/**
 * Sends the user of an approved request to connect the server. The request waits under a new id, which only
 * the sealed link has; the link leads to the host of the route, where `finishAuthorization` answers it.
 */
export async function connectFirst(
  { pending, session, grantId }: ApprovedRequest,
  { routeId }: CompiledUpstreamOAuth,
  { request }: EndpointContext,
  { stores, connectLinks }: ConnectFirstOptions,
): Promise<GatewayResponse> {
  const requestId = randomToken();
  const trace = carriedTrace(request);
  const approved = { ...pending, approvedGrantId: grantId, ...trace };
  const { endSite } = networksOf(request.remoteAddress);
  await stores.pendingAuthorizations.save(requestId, approved, APPROVED_SECONDS, endSite);
  const returnTo = { kind: 'authorization', requestId } as const;
  const link = { user: session.identity, routeId, returnTo, ...trace };
  return seeOther(connectLinks.urlFor(link, pending.issuer));
}
