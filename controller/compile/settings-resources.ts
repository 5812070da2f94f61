import { hashResource } from '../../shared/snapshot/hash-resource.ts';
import {
  identityProviderKey,
  SETTINGS_KEY,
  SIGNING_KEYS_KEY,
} from '../../shared/snapshot/resource-key.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { SettingsOutput } from './compile-settings.ts';

/** The snapshot resources that are compiled from the settings. */
export function settingsResources(parts: SettingsOutput): readonly SnapshotResource[] {
  const { settings, identityProviders, signingKeys } = parts;
  return [
    hashResource(SETTINGS_KEY, settings),
    ...(signingKeys ? [hashResource(SIGNING_KEYS_KEY, signingKeys)] : []),
    ...identityProviders.map((provider) =>
      hashResource(identityProviderKey(provider.name), provider),
    ),
  ];
}
