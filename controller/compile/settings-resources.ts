import { hashResource } from '../../shared/snapshot/hash-resource.ts';
import {
  identityProviderKey,
  SETTINGS_KEY,
  SIGNING_KEYS_KEY,
} from '../../shared/snapshot/resource-key.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Problem } from '../validate/problem.ts';
import type { SettingsOutput } from './compile-settings.ts';
import {
  resolveClusterIssuer,
  type KnownClusterIssuer,
} from './identity-providers/cluster-issuer-provider.ts';

/** The snapshot resources of the settings, and what is wrong with a part of the settings that is left out. */
export interface SettingsResources {
  readonly resources: readonly SnapshotResource[];
  readonly problems: readonly Problem[];
}

/** Returns the snapshot resources that are compiled from the settings, that of the settings first. */
export function settingsResources(
  { settings, identityProviders, signingKeys, problems: ofOutput }: SettingsOutput,
  clusterIssuer: KnownClusterIssuer,
): SettingsResources {
  const { providers, problems } = resolveClusterIssuer(identityProviders, clusterIssuer);
  const resources = [
    hashResource(SETTINGS_KEY, settings),
    ...(signingKeys ? [hashResource(SIGNING_KEYS_KEY, signingKeys)] : []),
    ...providers.map((provider) => hashResource(identityProviderKey(provider.name), provider)),
  ];
  return { resources, problems: [...ofOutput, ...problems] };
}
