import { NO_SETTINGS } from './default-settings.ts';
import { resourceName } from './resources.ts';
import type { SignInAvailability } from './route-context.ts';
import type { ServedSettings } from './settings-keeper.ts';

/** Whether users can sign in with the settings that serve. */
export function signInOf(served: ServedSettings | undefined): SignInAvailability {
  if (served === undefined || served.settings === NO_SETTINGS) {
    return unavailable('SettingsNotFound', 'there is no GatewaySettings');
  }
  if (served.output.identityProvider !== undefined) return { kind: 'available' };
  const name = `GatewaySettings ${resourceName(served.settings)}`;
  return unavailable('IdentityProviderNotFound', `${name} has no identity provider`);
}

function unavailable(
  reason: 'SettingsNotFound' | 'IdentityProviderNotFound',
  message: string,
): SignInAvailability {
  return { kind: 'unavailable', reason, message: `nobody can sign in: ${message}` };
}
