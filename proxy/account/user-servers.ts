import type { Configuration } from '../configuration/configuration.ts';
import type { UserConnections } from '../mcp-applications/connections.ts';
import { usableServers } from '../mcp-applications/list-servers.ts';
import { mcpServersOf, type McpServer } from '../mcp-applications/mcp-servers.ts';
import type { Identity } from '../records/session.ts';
import type { UserConnection } from '../records/user-entry.ts';
import type { UserReference } from '../records/user-key.ts';
import type { Stores } from '../store/stores.ts';
import type { ConnectionState } from '../upstream-oauth/internal-tokens/connection-state.ts';
import { tokenNameOf } from '../upstream-oauth/internal-tokens/token-name.ts';

/** Servers that the page shows. Others can be used as well. */
const MAX_SERVERS = 500;

/** An MCP server that a user may use, and what it still needs of them. */
export interface UserServer {
  readonly server: McpServer;
  readonly state: ConnectionState;
  /** Id of the connection; undefined if the server needs none. */
  readonly connectionId: string | undefined;
}

/** MCP servers and connections of a user. */
export interface UserServers {
  readonly servers: readonly UserServer[];
  /** How many more there are. */
  readonly more: number;
  /** Connections to other servers: to those that are gone, were changed, or may not be used now. */
  readonly others: readonly UserConnection[];
}

/** Returns the MCP servers that a user may use, and every connection of the user. */
export async function serversOf(
  identity: Identity,
  configuration: Pick<Configuration, 'routes' | 'identityProviders'>,
  { connections, stores }: ServerOptions,
): Promise<UserServers> {
  const usable = await usableServers(identity, configuration);
  const shown = usable.slice(0, MAX_SERVERS);
  const routes = shown.map(({ route }) => route.compiled);
  const states = await connections.statesOf(identity, routes);
  const servers = shown.map((server, index) => ({
    server,
    state: states[index] ?? 'none-needed',
    connectionId: connectionIdOf(identity, server),
  }));
  const ids = new Set(servers.map(({ connectionId }) => connectionId));
  const kept = await keptConnections(identity, stores);
  return {
    servers,
    more: usable.length - shown.length,
    others: kept.filter(({ id }) => !ids.has(id)),
  };
}

interface ServerOptions {
  readonly connections: Pick<UserConnections, 'statesOf'>;
  readonly stores: Pick<Stores, 'connectionsOfUsers' | 'internalTokens'>;
}

async function keptConnections(
  user: UserReference,
  { connectionsOfUsers, internalTokens }: ServerOptions['stores'],
): Promise<readonly UserConnection[]> {
  const listed = await connectionsOfUsers.list(user);
  const found = await Promise.all(
    listed.map(async (connection) => {
      const token = await internalTokens.get({ ...connection, user });
      return token === null ? [] : [connection];
    }),
  );
  return found.flat();
}

/** Returns the server of a connection; undefined if it is gone or was changed. */
export function serverOfConnection(
  id: string,
  user: UserReference,
  { routes }: Pick<Configuration, 'routes'>,
): McpServer | undefined {
  return mcpServersOf(routes).all.find((server) => connectionIdOf(user, server) === id);
}

function connectionIdOf(user: UserReference, { connectUrl, route }: McpServer): string | undefined {
  return connectUrl === undefined ? undefined : tokenNameOf(user, route.compiled).id;
}
