import type { ResourceType } from './kubernetes-api.ts';

/** Returns the `apiVersion` of objects of a type. */
export function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The type of Routes. */
export const ROUTES: ResourceType = {
  group: 'gatehouse.dev',
  version: 'v1alpha1',
  plural: 'routes',
  kind: 'Route',
};

/** The type of GatewaySettings. */
export const GATEWAY_SETTINGS: ResourceType = {
  group: 'gatehouse.dev',
  version: 'v1alpha1',
  plural: 'gatewaysettings',
  kind: 'GatewaySettings',
};

/** The type of Secrets. */
export const SECRETS: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
};

/** The type of ConfigMaps. */
export const CONFIG_MAPS: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
};

/** The type of Services. */
export const SERVICES: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
};

/** The type of Namespaces. */
export const NAMESPACES: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
};

/** The type of Events. */
export const EVENTS: ResourceType = { group: '', version: 'v1', plural: 'events', kind: 'Event' };

/** The type of EndpointSlices. */
export const ENDPOINT_SLICES: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
};

/** The type of ReferenceGrants. */
export const REFERENCE_GRANTS: ResourceType = {
  group: 'gateway.networking.k8s.io',
  version: 'v1beta1',
  plural: 'referencegrants',
  kind: 'ReferenceGrant',
};

/** The type of Leases. */
export const LEASES: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
};

/** The type of TokenReviews. */
export const TOKEN_REVIEWS: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
};
