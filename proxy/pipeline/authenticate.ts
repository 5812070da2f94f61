import { acceptedCredentials } from '../authentication/accepted-credentials.ts';
import type { AuthenticationContext, Authenticators } from '../authentication/authenticator.ts';
import { ANONYMOUS, type Caller } from '../authentication/caller.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { inStage } from '../telemetry/tracing/in-stage.ts';
import { isAnonymousPreflight } from './anonymous-preflight.ts';

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
  const authenticator = authenticators[kind];
  const span = request.trace?.span;
  if (span === undefined) return authenticator.authenticate(request, route, context);
  return inStage(span, 'authenticate', () => authenticator.authenticate(request, route, context));
}
