import { BadRequestError, PathTooLongError } from '../errors/request-errors.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { ambiguousPath } from '../http/parse-request.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { MatchedHost } from './match-host.ts';

/**
 * Bounds the characters that are read while one path is matched: those of a path, times the regular
 * expressions and criteria that may read it.
 *
 * Attack: the author of a host with a thousand of them could stall every other host.
 */
const MAX_CHARACTERS_READ = 64_000;

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
  if (routes?.isPathSensitive === true) checkDecidingPath(path, routes.pathTests);
  const route = routes?.matchPath(path);
  if (routes?.isPathSensitive === true && routes.matchPathLoosely(path) !== route) {
    throw ambiguous();
  }
  if (route === undefined) throw new RouteNotFoundError(404, 'no route of the host has this path');
  return route;
}

function checkDecidingPath(path: string, pathTests: number): void {
  if (path.length * pathTests > MAX_CHARACTERS_READ) {
    throw new PathTooLongError(Math.floor(MAX_CHARACTERS_READ / pathTests));
  }
  if (ambiguousPath(path)) throw ambiguous();
}

function ambiguous(): BadRequestError {
  return new BadRequestError('ambiguous-path', 'the path can be read in more than one way');
}
