import { describe, expect, test } from '@jest/globals';

import { type ExternalTokenClaims } from '../../../../proxy/authentication/external-tokens.ts';
import type { Revocation } from '../../../../proxy/store/revocations.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';
import {
  NOW,
  FRESH_MS,
  GRACE_MS,
  type Fixture,
  aFixture,
  aToken,
  verdict,
} from '../../../support/external-token-fixture.ts';

describe('A revocation', () => {
  const KINDS: readonly [string, (claims: ExternalTokenClaims) => Revocation][] = [
    ['session', ({ sessionId }) => ({ kind: 'session', sessionId })],
    ['grant', ({ grantId }) => ({ kind: 'grant', grantId })],
    ['token', ({ tokenId }) => ({ kind: 'token', tokenId: tokenId })],
  ];

  async function revokeInStores({ stores }: Fixture, claims: ExternalTokenClaims): Promise<void> {
    await stores.revokedTokens.revoke(claims.tokenId, 60, claims.grantId);
  }

  test.each(KINDS)(
    'of a %s ends its cached tokens as soon as it is received',
    async (_kind, revocationOf) => {
      using fixture = aFixture();
      const { token, claims } = await aToken(fixture);
      const other = await aToken(fixture);
      expect(await verdict(fixture, token)).toBe('accepted');
      expect(await verdict(fixture, other.token)).toBe('accepted');
      await revokeInStores(fixture, claims);
      await fixture.stores.revocations.publish(revocationOf(claims));
      expect(await verdict(fixture, token)).toBe('revoked');
      // Other tokens stay cached.
      expect(fixture.authenticate(other.token)).not.toBeInstanceOf(Promise);
    },
  );

  test.each(KINDS)('of a %s during a check ends the check', async (_kind, revocationOf) => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    const { began, release } = fixture.holdNextLookup();
    const early = verdict(fixture, token);
    await began;
    await revokeInStores(fixture, claims);
    await fixture.stores.revocations.publish(revocationOf(claims));
    const late = verdict(fixture, token);
    release();
    expect(await early).toBe('revoked');
    expect(await late).toBe('revoked');
    expect(await verdict(fixture, token)).toBe('revoked');
  });

  test('of browser sessions does not affect tokens', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    await fixture.authenticate(token);
    const { sessionId } = claims;
    await fixture.stores.revocations.publish({ kind: 'browser', sessionId });
    expect(fixture.authenticate(token)).not.toBeInstanceOf(Promise);
  });
});

describe('A store that fails', () => {
  test('does not make the authenticator refuse a token for good', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    const { grants } = fixture.stores;
    const get = grants.get.bind(grants);
    grants.get = () => Promise.reject(new Error('the store is down'));
    await expect(fixture.authenticate(token)).rejects.toThrow('is down');
    grants.get = get;
    expect(await verdict(fixture, token)).toBe('accepted');
  });
});

describe('A cached token while the stores are unavailable', () => {
  test('stays valid for the grace period, and no longer', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    await fixture.authenticate(token);
    fixture.setAway(true);
    await fixture.authenticate(token, NOW + GRACE_MS - 1);
    const late = fixture.authenticate(token, NOW + GRACE_MS);
    await expect(late).rejects.toThrow(StoreUnavailableError);
  });

  test('is refused when it or its session has expired', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture, { expiresAt: NOW + 20_000 });
    const other = await aToken(fixture, { expiresAt: NOW + 24 * 3_600_000 });
    const session = await fixture.stores.sessions.get(other.claims.sessionId);
    const sessionEnd = session?.expiresAt ?? 0;
    await fixture.authenticate(token);
    await fixture.authenticate(other.token, sessionEnd - 1);
    fixture.setAway(true);
    expect(await verdict(fixture, token, { now: NOW + 19_999 })).toBe('accepted');
    expect(await verdict(fixture, token, { now: NOW + 20_000 })).toBe('expired');
    await expect(fixture.authenticate(other.token, sessionEnd)).rejects.toThrow(
      StoreUnavailableError,
    );
  });

  test('is refused when the one available store knows that its grant is gone', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    await fixture.authenticate(token);
    await fixture.stores.grants.revoke(claims.grantId);
    fixture.setAway(true);
    expect(await verdict(fixture, token, { now: NOW + FRESH_MS })).toBe('grant-gone');
  });

  test('is refused when the revocation of its grant is received', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    await fixture.authenticate(token);
    fixture.setAway(true);
    await fixture.authenticate(token, NOW + FRESH_MS);
    await fixture.stores.revocations.publish({ kind: 'grant', grantId: claims.grantId });
    const after = fixture.authenticate(token, NOW + FRESH_MS);
    await expect(after).rejects.toThrow(StoreUnavailableError);
  });
});
