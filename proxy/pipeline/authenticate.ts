import { acceptedCredential } from '../authentication/accepted-credentials.ts';
import type { AuthenticationContext, Authenticators } from '../authentication/authenticator.ts';
import { ANONYMOUS, type Caller } from '../authentication/caller.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

/** Finds out who makes a request, by the credential that its route accepts. */
export function authenticate(
  request: GatewayRequest,
  route: GatewayRoute,
  context: AuthenticationContext,
  authenticators: Authenticators,
): Caller | Promise<Caller> {
  const format = acceptedCredential(route.compiled);
  if (format === 'nothing') return ANONYMOUS;
  return authenticators[format].authenticate(request, route, context);
}
