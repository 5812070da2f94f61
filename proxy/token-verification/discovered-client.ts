import type { Configuration as ProviderClient } from 'openid-client';

import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { ProviderDiscovery } from '../identity-provider/provider-discovery.ts';

/** Stands for the client ID of a provider that is only there for the format `jwt`. It is sent nowhere. */
const NO_CLIENT = 'none';

/** Returns the client for a provider, with what discovery says about its endpoints. Rejects if that fails. */
export function discoveredClient(
  provider: CompiledIdentityProvider,
  discovery: Pick<ProviderDiscovery, 'clientOf'>,
): Promise<ProviderClient> {
  const { clientId = NO_CLIENT } = provider;
  return discovery.clientOf({ ...provider, clientId });
}
