import { API_VERSION } from '../../crds/crd-schema.ts';
import type { GatewaySettings } from '../../crds/types.ts';
import type { Version } from './versions.ts';

/** Replaces unusable settings while routes are only checked and do not serve. */
export const PLACEHOLDER_SETTINGS: Version<GatewaySettings> = {
  kind: 'readable',
  resource: {
    apiVersion: API_VERSION,
    kind: 'GatewaySettings',
    metadata: { name: 'gatehouse', namespace: 'default' },
    spec: {
      identityProviders: [
        { name: 'unknown', issuerUrl: 'https://identity-provider.invalid', clientId: 'unknown' },
      ],
    },
  },
  candidate: {
    kind: 'GatewaySettings',
    id: undefined,
    file: '',
    problems: [],
    inItsWords: (message) => message,
    locate: (problem) => ({ ...problem, file: '' }),
  },
};
