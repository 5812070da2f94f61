import { describe, expect } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { membersOf, send } from '../../support/http-client.ts';
import { errorIn, refresh, startSessionWorld, tokensIn } from '../../support/session-world.ts';
import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const OVER = { status: 400, error: 'invalid_grant' };

describe('The user of a recreated session', () => {
  verifies(
    'renewal.same-user',
    'a session is recreated only for the same user in the identity token',
    async () => {
      await using world = await startSessionWorld();
      const { identityProvider, url } = world;
      const bob = await signInClient(url, { login: 'bob' });
      const alice = await signInClient(url, { login: 'alice' });
      let idToken: unknown;
      identityProvider.changeTokens = (response) => ({
        ...response,
        id_token: (idToken ??= response['id_token']),
      });
      world.expireSessions();
      expect((await refresh(bob)).status).toBe(200);
      expect(errorIn(await refresh(alice))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({
          message: 'sign-in ended',
          reason: 'other-subject',
          user: 'alice',
        }),
      );
    },
  );

  verifies(
    'renewal.same-user',
    'a session is recreated only for the same user in userinfo',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      const body = { sub: 'bob', groups: ['engineering'] };
      world.identityProvider.answers.set('userinfo', { status: 200, body });
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
    },
  );

  type TokenResponse = Readonly<Record<string, unknown>>;

  function withoutIdToken(response: TokenResponse): TokenResponse {
    return { ...response, id_token: undefined };
  }

  verifies(
    'states.current-policies',
    'the user has the claims of userinfo if the provider sends no identity token',
    async () => {
      await using world = await startSessionWorld();
      const { identityProvider } = world;
      await world.serve({ policy: { allow: { and: [{ email: { is: 'alice@new.example' } }] } } });
      const client = await signInClient(world.url);
      identityProvider.changeTokens = withoutIdToken;
      const alice = identityProvider.users.get('alice') ?? {};

      identityProvider.users.set('alice', { ...alice, email: 'alice@new.example' });
      world.expireSessions();
      const moved = tokensIn(await refresh(client));
      expect(await world.statusWith(moved.accessToken)).toBe(200);

      const unverified = { email: 'alice@new.example', email_verified: false };
      identityProvider.users.set('alice', { ...alice, ...unverified });
      world.expireSessions();
      const { accessToken } = tokensIn(await refresh(client, { token: moved.refreshToken }));
      expect(await world.statusWith(accessToken)).toBe(403);
    },
  );

  verifies(
    ['states.current-policies', 'states.session-stays-expired'],
    'the session stays expired without an identity token if userinfo lacks an earlier claim',
    async () => {
      await using world = await startSessionWorld();
      const { answers } = world.identityProvider;
      const claims = { sub: 'alice', email: 'alice@example.com', groups: ['engineering'] };
      answers.set('userinfo', { status: 200, body: { ...claims, roles: ['admin'] } });
      await world.serve({ policy: { allow: { and: [{ 'claim/roles': 'admin' }] } } });
      const client = await signInClient(world.url);
      expect(await world.statusWith(client.accessToken)).toBe(200);
      world.identityProvider.changeTokens = withoutIdToken;
      world.expireSessions();
      const { refreshToken: token } = tokensIn(await refresh(client));

      answers.set('userinfo', { status: 200, body: claims });
      world.expireSessions();
      expect(errorIn(await refresh(client, { token }))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'sign-in ended', reason: 'claims-unknown' }),
      );
    },
  );

  verifies(
    ['states.current-policies', 'states.session-stays-expired'],
    'the session stays expired if the provider does not report the groups that the user had',
    async () => {
      await using world = await startSessionWorld();
      const allow = { and: [{ accept: true }] };
      await world.serve({ policy: { allow, deny: { or: [{ groups: { is: 'engineering' } }] } } });
      const client = await signInClient(world.url);
      expect(await world.statusWith(client.accessToken)).toBe(403);
      world.identityProvider.answers.set('userinfo', { status: 200, body: { sub: 'alice' } });
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'sign-in ended', reason: 'claims-unknown' }),
      );
    },
  );

  verifies(
    'states.session-stays-expired',
    'the session stays expired if the provider sends neither identity token nor userinfo',
    async () => {
      await using world = await startSessionWorld();
      const { identityProvider } = world;
      const client = await signInClient(world.url);
      const url = `${identityProvider.issuer}/.well-known/openid-configuration`;
      const document = membersOf(await send(url));
      const body = { ...document, userinfo_endpoint: undefined };
      identityProvider.answers.set('discovery', { status: 200, body });
      identityProvider.changeTokens = withoutIdToken;
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'sign-in ended', reason: 'no-fresh-identity' }),
      );
    },
  );
});

describe('The scopes of a sign-in', () => {
  const SCOPES = [
    ['include offline_access if the provider issues refresh tokens', 'kept', ' offline_access'],
    ['do not include offline_access otherwise', 'none', ''],
  ] as const;

  for (const [what, refreshTokens, more] of SCOPES) {
    verifies('renewal.offline-access', `the default scopes ${what}`, async () => {
      await using world = await startGatewayWithUsers({}, { refreshTokens });
      const { issuer, clientId, authorizationRequests } = world.identityProvider;
      const app = world.originOf('app');
      const clientSecretRef = { name: 'identity-provider', key: 'client-secret' };
      const asked = async (scopes?: string[]): Promise<string | null | undefined> => {
        const provider = { name: 'test', issuerUrl: issuer, clientId, clientSecretRef };
        await world.configure(
          { app: { from: app, to: 'http://127.0.0.1:1', allowAnyAuthenticatedUser: true } },
          { identityProviders: [{ ...provider, ...(scopes !== undefined && { scopes }) }] },
        );
        await new BrowserJar().open(app);
        return authorizationRequests.at(-1)?.get('scope');
      };
      expect(await asked()).toBe(`openid email profile${more}`);
      expect(await asked(['openid', 'groups'])).toBe('openid groups');
    });
  }
});
