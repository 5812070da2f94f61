import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { Identity } from '../records/session.ts';
import type { AccountOptions } from './account-options.ts';
import { serverOfConnection } from './user-servers.ts';

/**
 * Ends a connection of a user. Only if its server is still there, and was not changed, the tokens can be revoked at
 * the authorization server too.
 */
export async function disconnectServer(
  id: string,
  identity: Identity,
  context: EndpointContext,
  { connections, stores, audit }: AccountOptions,
): Promise<void> {
  const server = serverOfConnection(id, identity, context.configuration);
  if (server !== undefined) {
    await connections.disconnect(identity, server.route.compiled, context);
    return;
  }
  const listed = await stores.connectionsOfUsers.list(identity);
  const connection = listed.find((candidate) => candidate.id === id);
  if (connection === undefined) return;
  const key = { ...connection, user: identity };
  await stores.connectionNeeds.delete(key);
  const dropped = await stores.internalTokens.drop(key);
  await stores.connectionsOfUsers.remove(identity, [id]);
  await stores.revocations.publish({ kind: 'internal-token', keyHash: id });
  if (dropped) audit.write('connection-ended', context, { identity, reason: 'disconnected' });
}
