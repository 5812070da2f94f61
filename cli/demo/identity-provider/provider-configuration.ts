import { randomBytes } from 'node:crypto';

import { exportJWK, generateKeyPair } from 'jose';
import type { Configuration } from 'oidc-provider';

import { findPerson, type Person } from '../people.ts';
import { MemoryAdapter } from './memory-adapter.ts';

/** The only application that the provider signs people in to. Also in manifests/settings.yaml. */
const CLIENT_ID = 'gatehouse';
const CLIENT_SECRET = 'only-for-this-demo';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const SCOPES = 'openid profile email groups offline_access';

/** Configuration of the demo's provider: everybody in `PEOPLE`, no consent, new keys each time. */
export async function providerConfiguration(
  signInOrigin: string,
  interactionUrl: (uid: string) => string,
): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    adapter: MemoryAdapter,
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${signInOrigin}/.gateway/callback`],
        // A key for RS256, the default, takes many times longer to make.
        id_token_signed_response_alg: 'ES256',
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', kid: 'demo', alg: 'ES256' }] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    scopes: SCOPES.split(' '),
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    // Groups are in the identity token, which most providers can be configured to do.
    conformIdTokenClaims: false,
    findAccount: (_context, account) => {
      const person = findPerson(account);
      return person && { accountId: account, claims: () => claimsOf(person) };
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => interactionUrl(uid) },
    ttl: {
      AccessToken: HOUR_SECONDS,
      AuthorizationCode: MINUTE_SECONDS,
      Grant: DAY_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      RefreshToken: DAY_SECONDS,
      Session: DAY_SECONDS,
    },
    loadExistingGrant: async ({ oidc }) => {
      // The gateway belongs to the company, so its users are not asked for consent.
      const { client, session, provider } = oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
  };
}

function claimsOf({ account, name, email, groups }: Person) {
  return { sub: account, name, email, email_verified: true, groups };
}
