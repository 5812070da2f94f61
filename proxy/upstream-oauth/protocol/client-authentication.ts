import { type Client, type ClientAuth, ClientSecretPost, None } from 'oauth4webapi';

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
  return authMethod === 'client_secret_post' ? ClientSecretPost(secret) : clientSecretBasic(secret);
}

/**
 * RFC 6749, section 2.3.1. `oauth4webapi` encodes `-`, `_` and `.` too, which nearly every id has, and not every
 * server decodes.
 */
function clientSecretBasic(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const credentials = `${formEncoded(id)}:${formEncoded(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  };
}

function formEncoded(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice('='.length);
}
