import type { Configuration } from '../configuration/configuration.ts';
import type { Identity } from '../records/session.ts';
import type { UserConnections } from './connections.ts';
import type { McpServer } from './mcp-servers.ts';

/** How many connections of one request are ended at the same time: each may ask an authorization server. */
const AT_ONCE = 8;

/** Ends the connections of a user to MCP servers, where there are any. */
export async function disconnectServers(
  identity: Identity,
  servers: readonly McpServer[],
  connections: Pick<UserConnections, 'disconnect'>,
  context: { readonly configuration: Pick<Configuration, 'settings'> },
): Promise<void> {
  const waiting = servers.filter(({ connectUrl }) => connectUrl !== undefined).values();
  const work = async (): Promise<void> => {
    for (const { route } of waiting) {
      await connections.disconnect(identity, route.compiled, context);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
