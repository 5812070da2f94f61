import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { exportJWK, generateKeyPair } from 'jose';
import type { Configuration, Provider } from 'oidc-provider';

import { readForm } from '../../../proxy/http/read-form.ts';
import { loadOidcProvider } from '../identity-provider/load-oidc-provider.ts';
import { MemoryAdapter } from '../identity-provider/memory-adapter.ts';
import { sendPage, withoutCookies } from '../pages-of-servers.ts';
import { findPerson } from '../people.ts';
import { OWNER_FIELD, ownerGonePage, ownerPage } from './owner-page.ts';

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * MINUTE_SECONDS;

const INTERACTION_PREFIX = '/account/';
const SESSION_COOKIE = 'notes_session';

/** The only scope of the notes. */
export const SCOPE = 'notes';
const SCOPES = `${SCOPE} offline_access`;

/** The authorization server of the notes: it knows nothing of the gateway's users. */
export interface NotesAuthorizationServer {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Returns the account that a token was issued for, for this resource; undefined if it is not valid. */
  readonly accountOf: (accessToken: string, resource: string) => Promise<string | undefined>;
}

/** Creates the server for an issuer. Clients register themselves (RFC 7591). */
export async function createAuthorizationServer(issuer: string): Promise<NotesAuthorizationServer> {
  const { Provider, errors } = await loadOidcProvider();
  const provider = new Provider(issuer, await configuration());
  const protocol = provider.callback();
  return {
    async handle(request, response) {
      withoutCookies(request, SESSION_COOKIE);
      if (request.url?.startsWith(INTERACTION_PREFIX) !== true) {
        await protocol(request, response);
        return;
      }
      try {
        await choose(provider, request, response);
      } catch (error) {
        if (!(error instanceof errors.SessionNotFound)) throw error;
        sendPage(response, ownerGonePage());
      }
    },
    async accountOf(accessToken, resource) {
      const token = await provider.AccessToken.find(accessToken);
      // RFC 8707, section 4: a token for another resource is not for this server.
      return token?.aud === resource ? token.accountId : undefined;
    },
  };
}

async function choose(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid } = await provider.interactionDetails(request, response);
  const isChosen = request.method === 'POST';
  const person = isChosen ? findPerson((await readForm(request)).get(OWNER_FIELD)) : undefined;
  if (person === undefined) {
    sendPage(response, ownerPage(INTERACTION_PREFIX + uid));
    return;
  }
  await provider.interactionFinished(request, response, { login: { accountId: person.account } });
}

async function configuration(): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    adapter: MemoryAdapter,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', kid: 'notes', alg: 'ES256' }] },
    // Browsers send the cookies of `localhost` to all its ports.
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      names: { session: SESSION_COOKIE, interaction: 'notes_account', resume: 'notes_resume' },
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    scopes: SCOPES.split(' '),
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    pkce: { required: () => true },
    findAccount: (_context, account) => ({ accountId: account, claims: () => ({ sub: account }) }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          ...{ scope: SCOPE, audience: resource, accessTokenFormat: 'opaque' },
        }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (_context, { uid }) => INTERACTION_PREFIX + uid },
    ttl: {
      // Short, so that the gateway has to refresh it.
      AccessToken: 5 * MINUTE_SECONDS,
      AuthorizationCode: MINUTE_SECONDS,
      Grant: DAY_SECONDS,
      IdToken: DAY_SECONDS,
      Interaction: DAY_SECONDS,
      RefreshToken: DAY_SECONDS,
      Session: DAY_SECONDS,
    },
    loadExistingGrant: async ({ oidc: { client, params, session, provider } }) => {
      // The choice of an account is the consent.
      if (client === undefined || session?.accountId === undefined) return undefined;
      const { accountId } = session;
      const grant = new provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope(SCOPES);
      for (const resource of [params?.['resource']].flat()) {
        if (typeof resource === 'string') grant.addResourceScope(resource, SCOPE);
      }
      await grant.save();
      return grant;
    },
  };
}
