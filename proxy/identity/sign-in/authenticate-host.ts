import type { EndpointContext } from '../../endpoints/endpoint.ts';
import { isLoopbackHost } from '../../../shared/snapshot/loopback-host.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';

/** Origin that signs users in for a host: the dedicated one, or without it the host's own. */
export function authenticateOriginFor({
  configuration: { settings },
  origin,
}: Pick<EndpointContext, 'configuration' | 'origin'>): Origin {
  return settings.authenticateOrigin ?? origin;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Whether a sign-in may end at an origin: at that of a live Route's host, or at this very host, which
 * has pages of its own. Without this the gateway would send codes to whoever owned a host before.
 */
export function isSignInTarget(
  target: Origin,
  { configuration: { routes }, origin }: Pick<EndpointContext, 'configuration' | 'origin'>,
): boolean {
  const { protocol, hostname, port } = new URL(target);
  // A session cookie in plain text is anybody's. Routes on http are public, and need none.
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) return false;
  if (target === origin) return true;
  const host = routes.findHost(`${hostname}:${port || (DEFAULT_PORTS[protocol] ?? '')}`);
  return host !== undefined && `${host.scheme}:` === protocol;
}
