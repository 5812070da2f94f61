import { isTrustedProxy } from '../configuration/server-in-front.ts';
import { MisdirectedRequestError, RouteNotFoundError } from '../errors/routing-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import { originOfHost, type HostRoutes } from '../configuration/routing-table.ts';

/** The host that a request is for. */
export interface MatchedHost {
  /** As `from` or `authenticateUrl` spells it. */
  readonly origin: Origin;
  /** Absent on the dedicated sign-in host, which has endpoints and no routes. */
  readonly routes: HostRoutes | undefined;
  /** The request came without TLS, although its origin is https and this gateway could have TLS for it. */
  readonly lacksTls?: boolean;
}

/** Knows the listeners. */
interface TlsState {
  requiresTls(): boolean;
}

/**
 * Finds the host that a request is for; 421 when this gateway does not serve it, or not on this connection.
 * It alone decides what the TLS of a connection means for a request, for every HTTP version.
 */
export function matchHost(
  request: Pick<GatewayRequest, 'authority' | 'path' | 'message'>,
  configuration: Configuration,
  tls: TlsState,
): MatchedHost {
  const { certificate } = request.message.socket;
  if (certificate !== undefined) return matchWithTls(request, configuration, certificate);
  if (!tls.requiresTls() || hadTls(request, configuration)) {
    return findHost(request.authority, configuration);
  }
  return matchWithoutTls(request, configuration);
}

/**
 * Attack: a client reuses a connection for any host that its certificate is for (RFC 9113, section 9.1.1),
 * and other hosts must not be reached on it. A trusted proxy sends the requests of many hosts on one
 * connection, and does not choose it by its certificate.
 */
function matchWithTls(
  request: Pick<GatewayRequest, 'authority' | 'message'>,
  configuration: Configuration,
  certificate: NonNullable<GatewayRequest['message']['socket']['certificate']>,
): MatchedHost {
  const { authority, message } = request;
  const isInFront = (): boolean =>
    isTrustedProxy(message.socket.remoteAddress ?? '', configuration.settings);
  if (!certificate.covers(authority) && !isInFront()) throw new MisdirectedRequestError();
  const host = findHost(authority, configuration);
  // Its cookies would lack `Secure`, and its users would be sent back to http.
  if (host.origin.startsWith('http:') && !isInFront()) throw notFound(authority);
  return host;
}

/** A client that asks for http may name the port of it, which changes nothing (RFC 9110, section 4.2.3). */
function matchWithoutTls(
  { authority, path }: Pick<GatewayRequest, 'authority' | 'path'>,
  configuration: Configuration,
): MatchedHost {
  const name = authority.replace(/:80$/, '');
  const host = findHost(name, configuration);
  if (host.origin.startsWith('http:')) return host;
  return plainHost({ authority: name, path }, configuration) ?? { ...host, lacksTls: true };
}

function findHost(authority: string, { routes, settings }: Configuration): MatchedHost {
  const found = routes.findHost(authority);
  if (found !== undefined) return { origin: originOfHost(found, authority), routes: found };
  const { authenticateOrigin } = settings;
  if (authenticateOrigin !== undefined && isAuthorityOf(authenticateOrigin, authority)) {
    return { origin: authenticateOrigin, routes: undefined };
  }
  throw notFound(authority);
}

/**
 * Returns whether a request without TLS had TLS on its way to a trusted proxy. One that says nothing is taken
 * for one that ends TLS: a redirect would come back to it for ever.
 */
function hadTls(
  { message }: Pick<GatewayRequest, 'message'>,
  { settings }: Configuration,
): boolean {
  if (!isTrustedProxy(message.socket.remoteAddress ?? '', settings)) return false;
  const schemes = message.headers['x-forwarded-proto'];
  if (typeof schemes !== 'string') return true;
  return schemes.split(',').some((scheme) => scheme.trim().toLowerCase() !== 'http');
}

/** Returns the host with plain http in `from` beside one with https, if one of its routes has the path. */
function plainHost(
  { authority, path }: Pick<GatewayRequest, 'authority' | 'path'>,
  { routes }: Configuration,
): MatchedHost | undefined {
  if (/:\d+$/.test(authority)) return undefined;
  const found = routes.findHost(`${authority}:80`);
  if (found?.scheme !== 'http' || found.matchPath(path) === undefined) return undefined;
  return { origin: originOfHost(found, authority), routes: found };
}

function notFound(authority: string): RouteNotFoundError {
  return new RouteNotFoundError(421, `no route for host ${JSON.stringify(authority)}`);
}

function isAuthorityOf(origin: string, authority: string): boolean {
  const { protocol, host } = new URL(origin);
  return host === authority || `${host}${protocol === 'https:' ? ':443' : ':80'}` === authority;
}
