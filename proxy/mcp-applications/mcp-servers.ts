import { compareText } from '../../shared/runtime/compare-text.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute, HostRoutes, RoutingTable } from '../configuration/routing-table.ts';
import { PATHS } from '../endpoints/paths.ts';

/** An MCP server behind the gateway, as an application sees it. */
export interface McpServer {
  /** Name of the Route, without its namespace. */
  readonly name: string;
  /** The URL to give to MCP clients. */
  readonly url: string;
  /** Where users connect an account of theirs; undefined if they need none. */
  readonly connectUrl: string | undefined;
  readonly route: GatewayRoute;
}

/** The MCP servers of a configuration. */
export interface McpServers {
  /** By name, then by URL. */
  readonly all: readonly McpServer[];
  readonly byUrl: ReadonlyMap<string, McpServer>;
}

/**
 * Returns the MCP servers behind the gateway, on all hosts. Not those of wildcard hosts: these have no URL that could
 * be listed.
 */
export const mcpServersOf = oncePerObject((routes: RoutingTable): McpServers => {
  const all = [...routes.hosts()].filter(hasOneName).flatMap(serversOfHost).sort(byName);
  return { all, byUrl: new Map(all.map((server) => [server.url, server])) };
});

function hasOneName({ host }: HostRoutes): boolean {
  return !host.startsWith('*.');
}

function serversOfHost({ mcpServers, origin }: HostRoutes): readonly McpServer[] {
  return mcpServers.map((route) => {
    const { compiled } = route;
    const url = resourceIdentifier(compiled);
    const needsConnection = compiled.mcpServer?.upstreamOAuth !== undefined;
    const connectUrl = `${origin}${PATHS.connect}?resource=${encodeURIComponent(url)}`;
    return {
      name: compiled.name.slice(compiled.name.indexOf('/') + 1),
      url,
      connectUrl: needsConnection ? connectUrl : undefined,
      route,
    };
  });
}

function byName(one: McpServer, other: McpServer): number {
  return compareText(one.name, other.name) || compareText(one.url, other.url);
}
