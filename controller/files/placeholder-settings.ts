import type { GatewaySettings } from '../../crds/types.ts';

/**
 * Stands for settings that are not known yet, so that what is wrong with the routes themselves
 * shows. What is compiled with it never serves.
 */
export const PLACEHOLDER_SETTINGS: GatewaySettings = {
  apiVersion: 'gatehouse.dev/v1alpha1',
  kind: 'GatewaySettings',
  metadata: { name: 'gatehouse', namespace: 'default' },
  spec: {
    identityProviders: [
      { name: 'unknown', issuerUrl: 'https://identity-provider.invalid', clientId: 'unknown' },
    ],
  },
};
