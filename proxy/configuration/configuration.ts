import type { CompiledSettings, CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';
import type { ClientAddressOf } from '../http/client-address.ts';
import type { CertificateTable } from './certificate-table.ts';
import type { IdentityProviders } from './identity-providers.ts';
import type { RoutingTable } from './routing-table.ts';
import type { Services } from './service-targets.ts';

/** A snapshot made ready to serve. Immutable; a request keeps the configuration it began with. */
export interface Configuration {
  readonly version: string;
  readonly settings: CompiledSettings;
  /** If there is none, only public routes serve. */
  readonly identityProviders: IdentityProviders;
  /** Absent if the settings name no keys: the process then uses its default keys. */
  readonly signingKeys: CompiledSigningKeys | undefined;
  readonly routes: RoutingTable;
  readonly services: Services;
  readonly certificates: CertificateTable;
  /** Finds the address of clients, by the trusted proxies of the settings. */
  readonly clientAddressOf: ClientAddressOf;
}
