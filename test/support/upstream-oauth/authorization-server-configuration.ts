import { randomBytes } from 'node:crypto';

import { exportJWK, generateKeyPair } from 'jose';
import type { AdapterFactory, Configuration, errors, ResourceServer } from 'oidc-provider';

/** What an upstream's authorization server supports, and how. */
export interface AuthorizationServerFeatures {
  /** Whether clients can register themselves (RFC 7591). Defaults to true. */
  readonly registration?: boolean;
  /** Fetches client ID metadata documents; absent, the server accepts none. */
  readonly fetchClientMetadata?: NonNullable<Configuration['fetch']>;
  /** Defaults to `rotated`: each works once, and its second use ends every token that came from it. */
  readonly refreshTokens?: 'none' | 'kept' | 'rotated';
  /** Defaults to an hour. */
  readonly accessTokenSeconds?: number;
  /**
   * `required` refuses authorization and token requests without `resource` (RFC 8707), `refused` all
   * that have one, as some servers do, and `ignored` takes no notice of it. Defaults to `required`.
   */
  readonly resourceIndicators?: 'required' | 'ignored' | 'refused';
  /** The issuer, where something before it terminates TLS. Defaults to `http://localhost:PORT`. */
  readonly origin?: string;
}

type InvalidTarget = new (description: string) => InstanceType<typeof errors.InvalidTarget>;

/** Scopes that users grant. */
const UPSTREAM_SCOPES = ['read', 'write', 'admin'] as const;

/** The client that is registered by hand. Its redirect URIs are the test's. */
export const GIVEN_CLIENT = { id: 'registered-by-hand', secret: 'secret-of-the-registered-client' };

/** Path of the sign-in page, before the id of an interaction. */
export const INTERACTION = '/sign-in/';

const HOUR_SECONDS = 3600;

/** Configuration of a server where everybody may sign in, and grants every client all it asks for. */
export async function authorizationServerConfiguration(
  port: number,
  features: AuthorizationServerFeatures,
  { adapter, InvalidTarget }: { adapter: AdapterFactory; InvalidTarget: InvalidTarget },
): Promise<Configuration> {
  const { refreshTokens = 'rotated', accessTokenSeconds = HOUR_SECONDS } = features;
  const { registration = true, fetchClientMetadata, resourceIndicators = 'required' } = features;
  const givesRefreshTokens = refreshTokens !== 'none';
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const scopes = [...UPSTREAM_SCOPES, ...(givesRefreshTokens ? ['offline_access'] : [])];
  return {
    adapter,
    clients: [
      {
        client_id: GIVEN_CLIENT.id,
        client_secret: GIVEN_CLIENT.secret,
        redirect_uris: ['http://localhost/replaced-by-redirectUris'],
        grant_types: ['authorization_code', 'refresh_token'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', kid: 'test', alg: 'ES256' }] },
    // Browsers send the cookies of a host to all its ports, where other providers listen.
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      names: cookieNames(port),
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    scopes,
    issueRefreshToken: (_context, client) =>
      givesRefreshTokens && client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: refreshTokens === 'rotated',
    expiresWithSession: () => false,
    pkce: { required: () => true },
    findAccount: (_context, login) => ({ accountId: login, claims: () => ({ sub: login }) }),
    ...(fetchClientMetadata && { fetch: fetchClientMetadata }),
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      registration: { enabled: registration },
      clientIdMetadataDocument: {
        enabled: fetchClientMetadata !== undefined,
        ack: 'draft-02',
      },
      resourceIndicators: resourceIndicatorsOf(resourceIndicators, InvalidTarget),
    },
    renderError: (context, members) => {
      context.type = 'application/json';
      context.body = members;
    },
    interactions: { url: (_context, { uid }) => INTERACTION + uid },
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: 60,
      Grant: HOUR_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      RefreshToken: HOUR_SECONDS,
      Session: HOUR_SECONDS,
    },
    loadExistingGrant: async ({ oidc: { client, params, session, provider } }) => {
      if (client === undefined || session?.accountId === undefined) return undefined;
      const { accountId } = session;
      const grant = new provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope(scopes.join(' '));
      for (const resource of [params?.['resource']].flat()) {
        if (typeof resource === 'string') {
          grant.addResourceScope(resource, UPSTREAM_SCOPES.join(' '));
        }
      }
      await grant.save();
      return grant;
    },
  };
}

function cookieNames(port: number) {
  const name = (part: string): string => `_${part}_${String(port)}`;
  return { session: name('session'), interaction: name('interaction'), resume: name('resume') };
}

function resourceIndicatorsOf(
  kind: NonNullable<AuthorizationServerFeatures['resourceIndicators']>,
  InvalidTarget: InvalidTarget,
) {
  const needed = (): never => {
    throw new InvalidTarget('a resource indicator is required');
  };
  return {
    enabled: kind !== 'ignored',
    // Called for requests without `resource`.
    defaultResource: (_context: unknown, _client: unknown, oneOf?: readonly string[]) => {
      if (oneOf !== undefined) return oneOf;
      return kind === 'required' ? needed() : [];
    },
    // Called for token requests without `resource`.
    useGrantedResource: () => (kind === 'required' ? needed() : false),
    getResourceServerInfo: (_context: unknown, resource: string): ResourceServer => {
      if (kind === 'refused') throw new InvalidTarget('resource indicators are not supported');
      return { scope: UPSTREAM_SCOPES.join(' '), audience: resource, accessTokenFormat: 'opaque' };
    },
  };
}
