import type {
  CompiledIdentityProvider,
  CompiledSettings,
  CompiledSigningKeys,
  Snapshot,
} from '../../shared/snapshot/snapshot.ts';
import { clientAddressBehind } from '../http/client-address.ts';
import type { Configuration } from './configuration.ts';
import { buildRoutingTable } from './routing-table.ts';

/** Makes a snapshot ready to serve from. */
export function buildConfiguration(snapshot: Snapshot): Configuration {
  let settings: CompiledSettings | undefined;
  let identityProvider: CompiledIdentityProvider | undefined;
  let signingKeys: CompiledSigningKeys | undefined;
  for (const { value } of snapshot.resources.values()) {
    switch (value.kind) {
      case 'settings':
        settings = value;
        break;
      case 'identity-provider':
        identityProvider = value;
        break;
      case 'signing-keys':
        signingKeys = value;
        break;
      case 'route':
        break;
    }
  }
  if (settings === undefined) throw new Error('the snapshot has no settings');
  return {
    version: snapshot.version,
    settings,
    identityProvider,
    signingKeys,
    routes: buildRoutingTable(snapshot),
    clientAddressOf: clientAddressBehind(settings.trustedProxies),
  };
}
