import type { EndpointContext } from '../../endpoints/endpoint.ts';
import { isLoopbackHost } from '../../../shared/snapshot/loopback-host.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';

/** Returns the origin that signs users in for a host: the dedicated one, else the host's own. */
export function authenticateOriginFor({
  configuration: { settings },
  origin,
}: Pick<EndpointContext, 'configuration' | 'origin'>): Origin {
  return settings.authenticateOrigin ?? origin;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Returns whether a sign-in may end at an origin: the host of a live Route, or this host, which has pages of
 * its own. Attack: otherwise a former host of the gateway would receive codes.
 */
export function isSignInTarget(
  target: Origin,
  { configuration: { routes }, origin }: Pick<EndpointContext, 'configuration' | 'origin'>,
): boolean {
  const { protocol, hostname, port } = new URL(target);
  // Without TLS anyone can read a session cookie. Routes on http are public, and need no cookie.
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) return false;
  if (target === origin) return true;
  const host = routes.findHost(`${hostname}:${port || (DEFAULT_PORTS[protocol] ?? '')}`);
  return host !== undefined && `${host.scheme}:` === protocol;
}
