import type { CompiledResource } from './snapshot.ts';

/** Key of the settings in a snapshot. */
export const SETTINGS_KEY = 'settings';

/** Key of the signing keys in a snapshot. */
export const SIGNING_KEYS_KEY = 'signing-keys';

const IDENTITY_PROVIDER_PREFIX = 'identity-provider/';
const ROUTE_PREFIX = 'route/';
const SERVICE_PREFIX = 'service/';
const HELD_HOST_PREFIX = 'held-host/';
const CERTIFICATE_PREFIX = 'certificate/';

/** Returns the key of an identity provider in a snapshot. */
export function identityProviderKey(name: string): string {
  return IDENTITY_PROVIDER_PREFIX + name;
}

/** Returns the key of a route, named `namespace/name`, in a snapshot. */
export function routeKey(name: string): string {
  return ROUTE_PREFIX + name;
}

/** Returns the key of a Service, named `namespace/name`, in a snapshot. */
export function serviceKey(name: string): string {
  return SERVICE_PREFIX + name;
}

/** Returns the key of a held host in a snapshot. */
export function heldHostKey(host: string): string {
  return HELD_HOST_PREFIX + host;
}

/** Returns the key of a certificate, named `namespace/name`, in a snapshot. */
export function certificateKey(name: string): string {
  return CERTIFICATE_PREFIX + name;
}

/** Whether a key in a snapshot is the key of a route. */
export function isRouteKey(key: string): boolean {
  return key.startsWith(ROUTE_PREFIX);
}

/** Whether a key in a snapshot is the key of a Service. */
export function isServiceKey(key: string): boolean {
  return key.startsWith(SERVICE_PREFIX);
}

/** Whether a key in a snapshot is the key of a held host. */
export function isHeldHostKey(key: string): boolean {
  return key.startsWith(HELD_HOST_PREFIX);
}

/** Whether a key in a snapshot is the key of a certificate. */
export function isCertificateKey(key: string): boolean {
  return key.startsWith(CERTIFICATE_PREFIX);
}

/**
 * Whether a key is of policy or settings, which audit logs name. Targets of Services and held hosts are not: they follow
 * from others, and targets change all the time.
 */
export function isPolicyKey(key: string): boolean {
  return !isServiceKey(key) && !isHeldHostKey(key);
}

/** Returns the one key that a compiled resource may have in a snapshot. */
export function resourceKey(value: CompiledResource): string {
  switch (value.kind) {
    case 'settings':
      return SETTINGS_KEY;
    case 'signing-keys':
      return SIGNING_KEYS_KEY;
    case 'identity-provider':
      return identityProviderKey(value.name);
    case 'route':
      return routeKey(value.name);
    case 'service':
      return serviceKey(value.name);
    case 'held-host':
      return heldHostKey(value.host);
    case 'certificate':
      return certificateKey(value.name);
  }
}
