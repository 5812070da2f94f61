import type { CompiledResource } from './snapshot.ts';

/** What the keys of routes begin with. */
export const ROUTE_KEY_PREFIX = 'route/';

/** The one key that a compiled resource may have in a snapshot. */
export function resourceKey(value: CompiledResource): string {
  switch (value.kind) {
    case 'settings':
    case 'signing-keys':
      return value.kind;
    case 'identity-provider':
      return `identity-provider/${value.name}`;
    case 'route':
      return ROUTE_KEY_PREFIX + value.name;
    case 'service':
      return `service/${value.name}`;
  }
}
