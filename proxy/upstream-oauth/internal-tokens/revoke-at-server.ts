import type { InternalToken } from '../../records/internal-token.ts';
import { revokeUpstreamToken } from '../protocol/token-requests.ts';
import { serverOfToken, type TokenServers } from './server-of-token.ts';
import type { InternalTokenUse } from './token-use.ts';

/**
 * Has the tokens of a connection revoked, as far as their server can. Never rejects: the calls are logged, and
 * the gateway has forgotten the tokens anyway.
 */
export async function revokeAtServer(
  token: InternalToken,
  use: Omit<InternalTokenUse, 'name'>,
  servers: Pick<TokenServers, 'forIssuer'>,
): Promise<void> {
  const { accessToken, refreshToken } = token;
  try {
    const server = await serverOfToken(token, use, servers);
    if (server === null) return;
    // First, because a server that revokes it usually revokes all of the connection.
    if (refreshToken !== undefined) {
      await revokeUpstreamToken(server, refreshToken, 'refresh_token');
    }
    await revokeUpstreamToken(server, accessToken, 'access_token');
  } catch {
    // Also an answer that is not one of RFC 7009. Nobody can do anything about it.
  }
}
