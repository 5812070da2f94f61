import {
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
} from 'oauth4webapi';

import type { UpstreamServer } from '../upstream-authorization.ts';

type ClientOfGateway = Pick<UpstreamServer, 'client'>;

/** Returns the gateway's client at an authorization server, as `oauth4webapi` wants it. */
export function oauthClient({ client }: ClientOfGateway): Client {
  return { client_id: client.id };
}

/** Returns how the gateway authenticates. A client without a secret is public, and sends its id only. */
export function clientAuthentication({ client }: ClientOfGateway): ClientAuth {
  const { secret, authMethod } = client;
  if (secret === undefined || authMethod === 'none') return None();
  return authMethod === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}
