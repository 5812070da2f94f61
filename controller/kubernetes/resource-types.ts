import type { ResourceType } from './kubernetes-api.ts';

export const ROUTES: ResourceType = {
  group: 'gatehouse.dev',
  version: 'v1alpha1',
  plural: 'routes',
  kind: 'Route',
};
export const GATEWAY_SETTINGS: ResourceType = {
  group: 'gatehouse.dev',
  version: 'v1alpha1',
  plural: 'gatewaysettings',
  kind: 'GatewaySettings',
};
export const SECRETS: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
};
export const SERVICES: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
};
export const NAMESPACES: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
};
export const EVENTS: ResourceType = { group: '', version: 'v1', plural: 'events', kind: 'Event' };
export const ENDPOINT_SLICES: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
};
export const REFERENCE_GRANTS: ResourceType = {
  group: 'gateway.networking.k8s.io',
  version: 'v1beta1',
  plural: 'referencegrants',
  kind: 'ReferenceGrant',
};
export const LEASES: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
};
export const TOKEN_REVIEWS: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
};
