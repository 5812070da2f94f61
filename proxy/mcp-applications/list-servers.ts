import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { couldUseRoute } from '../configuration/could-use-route.ts';
import type { Identity } from '../records/session.ts';
import type { UserConnections } from './connections.ts';
import { mcpServersOf, type McpServer } from './mcp-servers.ts';

/** A server in the answer of `GET /.gateway/mcp/routes` (specification: Endpoints). */
export interface ListedServer {
  readonly name: string;
  readonly url: string;
  /** Whether the user can call it now, as far as accounts at upstreams are concerned. */
  readonly connected: boolean;
  /** Whether users connect an account of theirs before they can call it. */
  readonly needs_oauth: boolean;
  /** Where they do that, if `redirect_url` is added. */
  readonly connect_url?: string;
}

/** Policies that are evaluated before other requests may have their turn. */
const POLICIES_AT_ONCE = 100;

/**
 * Returns the MCP servers that a user could use, always in the same order. Other requests are served meanwhile, for there
 * may be thousands of policies.
 */
export async function usableServers(
  identity: Identity,
  configuration: Pick<Configuration, 'routes' | 'identityProviders'>,
): Promise<readonly McpServer[]> {
  const { all } = mcpServersOf(configuration.routes);
  const slices = new TimeSlices();
  const available: McpServer[] = [];
  for (let at = 0; at < all.length; at += POLICIES_AT_ONCE) {
    const some = all.slice(at, at + POLICIES_AT_ONCE);
    available.push(...some.filter(({ route }) => couldUseRoute(identity, route, configuration)));
    await slices.pause();
  }
  return available;
}

/** Lists the MCP servers that a user could use, with whether they have to connect. */
export async function listServers(
  identity: Identity,
  configuration: Pick<Configuration, 'routes' | 'identityProviders'>,
  connections: Pick<UserConnections, 'statesOf'>,
): Promise<readonly ListedServer[]> {
  const available = await usableServers(identity, configuration);
  const needing = available.filter(({ connectUrl }) => connectUrl !== undefined);
  const routes = needing.map(({ route }) => route.compiled);
  const states = await connections.statesOf(identity, routes);
  const unconnected = new Set(needing.filter((_server, index) => states[index] !== 'connected'));
  return available.map((server) => ({
    name: server.name,
    url: server.url,
    connected: !unconnected.has(server),
    needs_oauth: server.connectUrl !== undefined,
    ...(server.connectUrl !== undefined && { connect_url: server.connectUrl }),
  }));
}
