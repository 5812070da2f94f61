import type { Identity } from '../records/session.ts';
import type { Configuration } from './configuration.ts';
import { isUserOf } from './identity-providers.ts';
import type { GatewayRoute } from './routing-table.ts';

/**
 * Returns whether a user could use a route: it has the user's identity provider, and its policy could permit some
 * request.
 */
export function couldUseRoute(
  identity: Identity,
  { compiled, policy }: GatewayRoute,
  { identityProviders }: Pick<Configuration, 'identityProviders'>,
): boolean {
  if (compiled.access.kind === 'public') return true;
  if (!isUserOf(identityProviders.ofRoute(compiled), identity)) return false;
  return policy?.couldAllow(identity) === true;
}
