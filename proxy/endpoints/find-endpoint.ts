import { RouteNotFoundError } from '../errors/request-errors.ts';
import type { Endpoint, EndpointHandler } from './endpoint.ts';
import type { RouteHost } from '../configuration/routing-table.ts';

const SLASH = '(?:/|%2f|%5c)';
const RESERVED_NAME = '.gateway'.replace(/./g, anySpelling);

/**
 * Everything under `/.gateway` is the gateway's, on every host (specification: Endpoints), in every
 * spelling that some upstream reads as it: encoded, in capitals, behind several slashes, with
 * parameters.
 */
const RESERVED = new RegExp(`^${SLASH}+${RESERVED_NAME}(?:$|;|%3b|${SLASH})`, 'i');

function anySpelling(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:[${character}]|%${codes.join('|%')})`;
}

/** Documents at well-known names, and below them. */
export interface WellKnowns {
  owns(path: string): boolean;
  readonly answer: EndpointHandler;
}

/** Paths under the reserved prefix that are nothing: they never reach an upstream. */
const NOTHING: Endpoint = {
  methods: ['GET', 'POST'],
  audience: 'text',
  crossOrigin: false,
  handle: () => Promise.reject(new RouteNotFoundError(404, 'no endpoint has this path')),
};

/**
 * Finds the endpoint of the gateway's own that a path of a host is; undefined for the proxied rest.
 *
 * OAuth's well-known names are ours on hosts with an MCP server route only.
 */
export function endpointFinder(
  endpoints: Readonly<Record<string, Endpoint>>,
  wellKnowns: WellKnowns,
): (host: RouteHost | undefined, path: string) => Endpoint | undefined {
  const byPath = new Map(Object.entries(endpoints));
  const wellKnown: Endpoint = {
    methods: ['GET'],
    audience: 'text',
    crossOrigin: true,
    handle: wellKnowns.answer,
  };
  return (host, path) => {
    if (RESERVED.test(path)) return byPath.get(path) ?? NOTHING;
    if (!path.startsWith('/.well-known/') || host === undefined) return undefined;
    return host.mcpServers.length > 0 && wellKnowns.owns(path) ? wellKnown : undefined;
  };
}
