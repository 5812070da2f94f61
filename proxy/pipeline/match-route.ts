import { BadRequestError } from '../errors/request-errors.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { ambiguousPath } from '../http/parse-request.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { MatchedHost } from './match-host.ts';

/** Bounds the cost of regular expressions, which can grow faster than the length of the path. */
const MAX_DECIDING_PATH_LENGTH = 2048;

/**
 * Finds the route of a host that owns a path.
 *
 * If the path decides who may do what, a path that the upstream could read differently is refused: the
 * upstream must get what policy saw.
 */
export function matchRoute(
  { path }: Pick<GatewayRequest, 'path'>,
  { routes }: Pick<MatchedHost, 'routes'>,
): GatewayRoute {
  if (routes?.isPathSensitive === true) checkDecidingPath(path);
  const route = routes?.matchPath(path);
  if (routes?.isPathSensitive === true && routes.matchPathLoosely(path) !== route) {
    throw ambiguous();
  }
  if (route === undefined) throw new RouteNotFoundError(404, 'no route of the host has this path');
  return route;
}

function checkDecidingPath(path: string): void {
  if (path.length > MAX_DECIDING_PATH_LENGTH) {
    throw new BadRequestError('path-too-long', 'the path is too long to match routes by');
  }
  if (ambiguousPath(path)) throw ambiguous();
}

function ambiguous(): BadRequestError {
  return new BadRequestError('ambiguous-path', 'the path can be read in more than one way');
}
