import { NO_SETTINGS } from '../default-settings.ts';
import { resourceName } from '../resources.ts';
import type { SignInAvailability } from '../route-context.ts';
import type { ServedSettings } from '../settings-keeper.ts';

/** Whether users can sign in, with the settings that serve, on routes that name no provider. */
export function signInOf(served: ServedSettings | undefined): SignInAvailability {
  if (served === undefined || served.settings === NO_SETTINGS) {
    return unavailable('SettingsNotFound', 'there is no GatewaySettings');
  }
  const { identityProviders: providers } = served.output;
  if (providers.some(({ signIn }) => signIn)) return { kind: 'available' };
  const name = `GatewaySettings ${resourceName(served.settings)}`;
  const missing = providers.length === 0 ? 'identity provider' : 'identity provider with signIn';
  return unavailable('IdentityProviderNotFound', `${name} has no ${missing}`);
}

function unavailable(
  reason: 'SettingsNotFound' | 'IdentityProviderNotFound',
  cause: string,
): SignInAvailability {
  return { kind: 'unavailable', reason, message: `nobody can sign in: ${cause}` };
}
