import { isUserOf } from '../../configuration/identity-providers.ts';
import { InvalidGrantError } from '../../errors/oauth-errors.ts';
import type { Session } from '../../records/session.ts';
import { routeOfResource } from '../resources.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * Refuses a user whose identity provider is not, or no longer, the one of the route that a token is for. A
 * route that is gone accepts no token.
 */
export function refuseOtherProvider(
  { identity }: Pick<Session, 'identity'>,
  resource: string,
  { issuer, identityProviders }: Pick<TokenRequest, 'issuer' | 'identityProviders'>,
): void {
  const route = routeOfResource(resource, issuer);
  if (route === undefined || isUserOf(identityProviders.ofRoute(route.compiled), identity)) return;
  throw new InvalidGrantError('users of this resource sign in at another identity provider now');
}
