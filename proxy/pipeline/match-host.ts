import { RouteNotFoundError } from '../errors/routing-errors.ts';
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
}

/** Finds the host that a request is for; 421 when this gateway does not serve it. */
export function matchHost(
  { authority }: Pick<GatewayRequest, 'authority'>,
  { routes, settings }: Configuration,
): MatchedHost {
  const found = routes.findHost(authority);
  if (found !== undefined) return { origin: originOfHost(found, authority), routes: found };
  const { authenticateOrigin } = settings;
  if (authenticateOrigin !== undefined && isAuthorityOf(authenticateOrigin, authority)) {
    return { origin: authenticateOrigin, routes: undefined };
  }
  throw new RouteNotFoundError(421, `no route for host ${JSON.stringify(authority)}`);
}

function isAuthorityOf(origin: string, authority: string): boolean {
  const { protocol, host } = new URL(origin);
  return host === authority || `${host}${protocol === 'https:' ? ':443' : ':80'}` === authority;
}
