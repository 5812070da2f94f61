import { hashToken } from '../../proxy/crypto/tokens.ts';
import { authenticateClient } from '../../proxy/authorization-server/clients/authenticate-client.ts';
import type { Client, ClientKeySet, ClientMetadata } from '../../proxy/records/client.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { compiledSettings } from './compiled-settings.ts';

/** Issuer at which all clients are registered. */
export const ISSUER = 'https://mcp.example.com';
/** Its token endpoint. */
export const TOKEN_ENDPOINT = `${ISSUER}/.gateway/mcp/token`;
/** `client_assertion_type` of a JWT (RFC 7523, section 2.2). */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Time of the gateway. */
export const NOW = Date.parse('2026-11-21T12:00:00Z');
/** The same in seconds. */
export const NOW_SECONDS = NOW / 1000;

function client(id: string, metadata: Partial<ClientMetadata>, secret?: string): Client {
  return {
    id,
    source: 'registration',
    metadata: {
      redirectUris: ['https://client.example/callback'],
      tokenEndpointAuthMethod: 'none',
      grantTypes: ['authorization_code'],
      ...metadata,
    },
    ...(secret === undefined ? {} : { secretHash: hashToken(secret) }),
  };
}

/** A public client. */
export const PUBLIC = client('public', {});
/** A client registered for `client_secret_basic`. */
export const BASIC = client('basic', { tokenEndpointAuthMethod: 'client_secret_basic' }, 's3cret');
/** A client registered for `client_secret_post`. */
export const POST = client('post', { tokenEndpointAuthMethod: 'client_secret_post' }, 's3cret');
/** A client registered for `private_key_jwt`. */
export const SIGNER = client('signer', { tokenEndpointAuthMethod: 'private_key_jwt' });
/** The same for a client that no user has approved. */
export const UNAPPROVED: Client = {
  ...client('unapproved', { tokenEndpointAuthMethod: 'private_key_jwt' }),
  isUnapproved: true,
};
/** A client that has a secret but is registered as a public one. */
const TURNED = client('turned', { tokenEndpointAuthMethod: 'none' }, 's3cret');
const SECRETLESS = client('secretless', { tokenEndpointAuthMethod: 'client_secret_basic' });

/** Returns an `Authorization` header with Basic credentials. */
export function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

/** Credentials of a client, in the header and the form of a request. */
export interface Attempt {
  readonly authorization?: string;
  readonly form?: Readonly<Record<string, string>> | string;
}

/** Makes an authorization server with these clients; `keySets` are returned one after another. */
export function setUp({
  keySets = [] as readonly ClientKeySet[],
  beforeVerifying = (): Promise<void> => Promise.resolve(),
} = {}) {
  const clients = [PUBLIC, BASIC, POST, SIGNER, UNAPPROVED, TURNED, SECRETLESS];
  const { replays, rateLimits } = createMemoryStores(() => NOW);
  const keyRequests: (number | undefined)[] = [];
  const attempt = ({ authorization, form = {} }: Attempt): Promise<Client> =>
    authenticateClient(
      {
        issuer: ISSUER,
        tokenEndpointUrl: TOKEN_ENDPOINT,
        authorization,
        form: new URLSearchParams(form),
        settings: compiledSettings(),
        beforeVerifying,
      },
      {
        findClient: (issuer, clientId) =>
          Promise.resolve(
            issuer === ISSUER ? (clients.find(({ id }) => id === clientId) ?? null) : null,
          ),
        readClientKeys: (_metadata, _settings, options) => {
          keyRequests.push(options?.maxAgeSeconds);
          const keys = keySets[keyRequests.length - 1] ?? keySets.at(-1);
          return Promise.resolve(keys ?? { keys: [] });
        },
        replays,
        rateLimits,
        now: () => NOW,
      },
    );
  return { attempt, keyRequests };
}
