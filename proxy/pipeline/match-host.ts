import { RouteNotFoundError } from '../errors/request-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { originOfHost, type RouteHost } from '../configuration/routing-table.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** Where a request came to. */
export interface Place {
  /** Origin of the host, as `from` or `authenticateUrl` spells it. */
  readonly origin: Origin;
  /** Absent on the dedicated sign-in host, which has endpoints and no routes. */
  readonly host: RouteHost | undefined;
}

/** Finds the host that a request is for; 421 when this gateway does not serve it. */
export function matchHost(
  { routes, settings }: Configuration,
  { authority }: Pick<GatewayRequest, 'authority'>,
): Place {
  const host = routes.findHost(authority);
  if (host !== undefined) return { origin: originOfHost(host, authority), host };
  const { authenticateOrigin } = settings;
  if (authenticateOrigin !== undefined && isAuthorityOf(authenticateOrigin, authority)) {
    return { origin: authenticateOrigin, host: undefined };
  }
  throw new RouteNotFoundError(421, `no route for host ${JSON.stringify(authority)}`);
}

function isAuthorityOf(origin: string, authority: string): boolean {
  const { protocol, host } = new URL(origin);
  return host === authority || `${host}${protocol === 'https:' ? ':443' : ':80'}` === authority;
}
