import type { GatewaySettings, Route } from '../../crds/types.ts';

const API_VERSION = 'gatehouse.dev/v1alpha1';

/** A valid Route for any signed-in user, with changes of `spec` and `metadata`. */
export function aRoute(
  spec: Partial<Route['spec']> = {},
  metadata: Partial<Route['metadata']> = {},
): Route {
  const access = { allowAnyAuthenticatedUser: true };
  return {
    apiVersion: API_VERSION,
    kind: 'Route',
    metadata: { name: 'app', namespace: 'default', ...metadata },
    spec: {
      from: 'https://app.example.com',
      to: 'http://app.internal:8080',
      ...('policy' in spec || 'allowPublicUnauthenticatedAccess' in spec ? {} : access),
      ...spec,
    },
  };
}

/** Valid GatewaySettings with one identity provider, with changes of `spec` and `metadata`. */
export function aSettings(
  spec: GatewaySettings['spec'] = {},
  metadata: Partial<GatewaySettings['metadata']> = {},
): GatewaySettings {
  const identityProvider = {
    name: 'idp',
    issuerUrl: 'https://idp.example.com',
    clientId: 'gatehouse',
  };
  return {
    apiVersion: API_VERSION,
    kind: 'GatewaySettings',
    metadata: { name: 'gateway', namespace: 'default', ...metadata },
    spec: { identityProviders: [identityProvider], ...spec },
  };
}
