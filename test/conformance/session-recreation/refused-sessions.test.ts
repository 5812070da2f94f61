import { describe, expect } from '@jest/globals';

import { endSignIn } from '../../../proxy/identity/session/end-sign-in.ts';
import {
  errorIn,
  refresh,
  signInOf,
  startSessionWorld,
  tokensIn,
} from '../../support/session-world.ts';
import { startIdentityProvider } from '../../support/identity-provider.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const OVER = { status: 400, error: 'invalid_grant' };

describe('A session that is not recreated', () => {
  verifies(
    ['states.session-stays-expired', 'errors.refresh-invalid-grant'],
    'the session of a user who was disabled at the provider stays expired, even if the user is enabled again',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      const { users } = world.identityProvider;
      const alice = users.get('alice') ?? {};
      users.delete('alice');
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
      users.set('alice', alice);
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(client))).toEqual(OVER);
      });
      expect(asked).toBe(0);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({
          message: 'sign-in ended',
          reason: 'invalid-grant',
          user: 'alice',
        }),
      );
      const again = await signInClient(world.url);
      expect(await world.statusWith(again.accessToken)).toBe(200);
    },
  );

  const REFUSALS = [
    [400, 'invalid_grant'],
    [403, 'invalid_grant'],
    [400, 'access_denied'],
    [400, 'interaction_required'],
    [400, 'login_required'],
    [400, 'consent_required'],
    [400, 'account_selection_required'],
  ] as const;

  for (const [status, error] of REFUSALS) {
    verifies(
      ['states.session-stays-expired', 'errors.refresh-invalid-grant'],
      `the session stays expired if the provider answers ${String(status)} ${error}`,
      async () => {
        await using world = await startSessionWorld();
        const client = await signInClient(world.url);
        world.identityProvider.answers.set('token', { status, body: { error } });
        world.expireSessions();
        expect(errorIn(await refresh(client))).toEqual(OVER);
        world.identityProvider.answers.clear();
        expect(errorIn(await refresh(client))).toEqual(OVER);
        const reason = error.replaceAll('_', '-');
        expect(world.gateway.logs()).toContainEqual(
          expect.objectContaining({ message: 'sign-in ended', reason }),
        );
      },
    );
  }

  verifies(
    'states.session-stays-expired',
    'the session stays expired if the provider issues no refresh tokens, and the log reports it',
    async () => {
      await using world = await startSessionWorld({ refreshTokens: 'none' });
      const client = await signInClient(world.url);
      const { refreshToken: token } = tokensIn(await refresh(client));
      world.expireSessions();
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(client, { token }))).toEqual(OVER);
      });
      expect(asked).toBe(0);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'session not renewed', reason: 'no-refresh-token' }),
      );
    },
  );

  verifies(
    ['states.bounded-lifetime', 'states.session-stays-expired'],
    'the session stays expired if the refresh token of the gateway has expired',
    async () => {
      await using world = await startSessionWorld();
      await world.serve(undefined, { tokens: { refreshTokenLifetime: '20h' } });
      const client = await signInClient(world.url);
      world.advance(19 * HOUR);
      const { refreshToken: token } = tokensIn(await refresh(client));
      world.advance(20 * HOUR);
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(client, { token }))).toEqual(OVER);
      });
      expect(asked).toBe(0);
    },
  );

  verifies('renewal.revoked', 'a session that was revoked is not recreated', async () => {
    await using world = await startSessionWorld();
    const client = await signInClient(world.url);
    expect(await endSignIn(await signInOf(client, world), world.stores)).toBe(true);
    expect(await world.statusWith(client.accessToken)).toBe(401);
    const asked = await world.tokenRequestsDuring(async () => {
      expect(errorIn(await refresh(client))).toEqual(OVER);
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
    });
    expect(asked).toBe(0);
  });

  const ELSEWHERE = [
    ['was renamed', { name: 'renamed' }],
    ['knows the gateway as another client', { clientId: 'other' }],
    ['has another issuer under the same name', { issuerUrl: 'other' }],
  ] as const;

  for (const [what, change] of ELSEWHERE) {
    verifies(
      ['renewal.same-provider', 'states.session-stays-expired'],
      `a provider that ${what} does not receive the earlier refresh token`,
      async () => {
        await using world = await startSessionWorld();
        const client = await signInClient(world.url);
        await using other = await startIdentityProvider({ refreshTokens: 'rotated' });
        const { issuer, clientId } = world.identityProvider;
        const clientSecretRef = { name: 'identity-provider', key: 'client-secret' };
        const settings = { name: 'test', issuerUrl: issuer, clientId, clientSecretRef, ...change };
        const issuerUrl = 'issuerUrl' in change ? other.issuer : issuer;
        await world.serve(undefined, { identityProviders: [{ ...settings, issuerUrl }] });
        world.expireSessions();
        const asked = await world.tokenRequestsDuring(async () => {
          expect(errorIn(await refresh(client))).toEqual(OVER);
        });
        expect(asked).toBe(0);
        expect(other.hits.size).toBe(0);
      },
    );
  }
});
