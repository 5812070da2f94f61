import { hashResource } from '../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { SettingsParts } from './compile-settings.ts';

/** The resources of the snapshot that come of the settings. */
export function settingsResources(parts: SettingsParts): readonly SnapshotResource[] {
  const { settings, identityProvider, signingKeys } = parts;
  return [
    hashResource('settings', settings),
    ...(signingKeys ? [hashResource('signing-keys', signingKeys)] : []),
    ...(identityProvider
      ? [hashResource(`identity-provider/${identityProvider.name}`, identityProvider)]
      : []),
  ];
}
