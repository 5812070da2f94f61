import { acceptedCredentials } from '../authentication/accepted-credentials.ts';
import type { AuthenticationContext, Authenticators } from '../authentication/authenticator.ts';
import { ANONYMOUS, type Caller } from '../authentication/caller.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { isPreflight } from '../http/cors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

/** Finds out who makes a request, by the credentials that its route accepts. */
export function authenticate(
  request: GatewayRequest,
  route: GatewayRoute,
  context: AuthenticationContext,
  authenticators: Authenticators,
): Caller | Promise<Caller> {
  if (isAnonymousPreflight(request, route)) return ANONYMOUS;
  const { kind } = acceptedCredentials(route.compiled, context.configuration);
  if (kind === 'nothing') return ANONYMOUS;
  return authenticators[kind].authenticate(request, route, context);
}

/**
 * Browsers send a preflight without credentials (Fetch, section 4.8). If the policy reads preflights, it
 * decides about one.
 */
function isAnonymousPreflight(
  { method, message }: GatewayRequest,
  { policy }: GatewayRoute,
): boolean {
  if (policy?.reads.has('preflight') !== true) return false;
  const { headers } = message;
  return (
    isPreflight(method, headers) &&
    headers.cookie === undefined &&
    headers.authorization === undefined
  );
}
