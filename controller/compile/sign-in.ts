import type { GatewaySettings } from '../../crds/types.ts';
import type { SettingsParts } from './compile-settings.ts';
import { nameOf } from './resources.ts';
import type { SignInAvailability } from './route-context.ts';

/**
 * Whether users can sign in with settings, and if not, why: `parts` is what the settings compile to,
 * undefined when they are not valid.
 */
export function signInOf(
  settings: Pick<GatewaySettings, 'metadata'> | undefined,
  parts: SettingsParts | undefined,
): SignInAvailability {
  if (settings === undefined) return unavailable('SettingsNotFound', 'there is no GatewaySettings');
  const name = `GatewaySettings ${nameOf(settings)}`;
  if (parts === undefined) return unavailable('SettingsNotFound', `${name} is not valid`);
  if (parts.identityProvider !== undefined) return { kind: 'available' };
  return unavailable('IdentityProviderNotFound', `${name} names no identity provider`);
}

function unavailable(
  reason: 'SettingsNotFound' | 'IdentityProviderNotFound',
  message: string,
): SignInAvailability {
  return { kind: 'unavailable', reason, message: `nobody can sign in: ${message}` };
}
