import { InvalidGrantError } from '../../errors/oauth-errors.ts';
import type { Session } from '../../records/session.ts';
import { routeOfResource } from '../resources.ts';
import type { GrantOptions, TokenRequest } from './token-request.ts';

/**
 * Refuses a refresh while the user has to connect the upstream of the route that the token is for. Clients
 * refresh before they send a user to authorize, and the user connects only there.
 */
export async function refuseUnconnected(
  { identity }: Pick<Session, 'identity'>,
  resource: string,
  { issuer }: Pick<TokenRequest, 'issuer'>,
  { internalTokens }: Pick<GrantOptions, 'internalTokens'>,
): Promise<void> {
  const route = routeOfResource(resource, issuer);
  // Other routes cost no look-up.
  if (route?.compiled.mcpServer?.upstreamOAuth === undefined) return;
  if (await internalTokens.isConnected(identity, route.compiled)) return;
  throw new InvalidGrantError('the server needs the authorization of its user; authorize again');
}
