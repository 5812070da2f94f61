import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import type { Caller } from '../../../../proxy/authentication/caller.ts';
import { ExternalTokenAuthenticator } from '../../../../proxy/authentication/external-token-authenticator.ts';
import {
  ExternalTokens,
  type ExternalTokenClaims,
} from '../../../../proxy/authentication/external-tokens.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../../../proxy/store/stores.ts';
import { NO_APPLICATIONS } from '../../../support/no-applications.ts';
import { verifies } from '../../../requirements/verifies.ts';
import type { USE } from '../../../support/external-token-fixture.ts';
import {
  NOW,
  RESOURCE,
  FRESH_MS,
  aFixture,
  aToken,
  verdict,
} from '../../../support/external-token-fixture.ts';

describe('An external token', () => {
  test('identifies the user of its session', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    const caller = await fixture.authenticate(token);
    expect(caller).toMatchObject({
      kind: 'user',
      via: 'external-token',
      session: { id: claims.sessionId },
    });
  });

  test.each<[string, Partial<typeof USE> & { now?: number }, string]>([
    ['after its expiry', { now: NOW + 900_000 }, 'expired'],
    ['at another route', { resource: `${RESOURCE}2` }, 'audience-mismatch'],
    ['at another gateway', { gatewayId: 'gatehouse/other' }, 'audience-mismatch'],
  ])('is refused %s, cached or not, without asking the stores', async (_when, use, why) => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    expect(await verdict(fixture, token, use)).toBe(why);
    expect(fixture.lookups()).toBe(0);
    expect(await verdict(fixture, token)).toBe('accepted');
    expect(await verdict(fixture, token, use)).toBe(why);
    expect(fixture.lookups()).toBe(1);
  });

  test('that the gateway did not seal is refused without asking the stores', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    for (const forged of [
      '',
      'gte_',
      'gte_x',
      `${token}x`,
      token.slice(4),
      `gtr_${token.slice(4)}`,
    ]) {
      expect(await verdict(fixture, forged)).toBe('malformed');
    }
    expect(fixture.lookups()).toBe(0);
  });

  test('that was sealed with a key that is gone is refused with a reason of its own', async () => {
    using fixture = aFixture();
    const { claims } = await aToken(fixture);
    const oldKey = { secret: Buffer.alloc(32, 0xee) };
    const token = new ExternalTokens(new Sealer([oldKey])).issue(claims);
    expect(await verdict(fixture, token)).toBe('unknown-sealing-key');
    expect(fixture.lookups()).toBe(0);
  });

  const ENDS: readonly (readonly [
    string,
    (stores: Stores, claims: ExternalTokenClaims) => Promise<void>,
    string,
  ])[] = [
    [
      'the token',
      ({ revokedTokens }, { tokenId }) => revokedTokens.revoke(tokenId, 60, 'grant-1'),
      'revoked',
    ],
    ['the grant', ({ grants }, { grantId }) => grants.revoke(grantId), 'grant-gone'],
    ['the session', ({ sessions }, { sessionId }) => sessions.revoke(sessionId), 'session-gone'],
  ];

  for (const [what, end, why] of ENDS) {
    verifies('as.grant-active', `is refused when ${what} is gone`, async () => {
      using fixture = aFixture();
      const { token, claims } = await aToken(fixture);
      await end(fixture.stores, claims);
      expect(await verdict(fixture, token)).toBe(why);
    });
  }
});

describe('A cached token', () => {
  test('is authenticated without a promise and without the stores', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    const caller = await fixture.authenticate(token);
    const again = fixture.authenticate(token, NOW + FRESH_MS - 1);
    expect(again).toBe(caller);
    expect(fixture.lookups()).toBe(1);
  });

  test('is checked again five seconds after its last check', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    expect(await verdict(fixture, token)).toBe('accepted');
    expect(await verdict(fixture, token, { now: NOW + FRESH_MS })).toBe('accepted');
    expect(fixture.lookups()).toBe(2);
    // The revocation was not published: only the stores know.
    await fixture.stores.sessions.revoke(claims.sessionId);
    expect(await verdict(fixture, token, { now: NOW + 2 * FRESH_MS - 1 })).toBe('accepted');
    expect(await verdict(fixture, token, { now: NOW + 2 * FRESH_MS })).toBe('session-gone');
  });

  test('stays cached beside 9,999 others', async () => {
    using fixture = aFixture();
    const first = await aToken(fixture);
    const others = [];
    for (let count = 1; count < 10_000; count += 1) others.push(await aToken(fixture));
    for (const { token } of [first, ...others]) {
      await fixture.authenticate(token);
    }
    expect(fixture.authenticate(first.token)).not.toBeInstanceOf(Promise);
    // More than one, since a few of so many have the place of another in the cache (`numberOfSecret`).
    for (let count = 0; count < 10; count += 1) {
      await fixture.authenticate((await aToken(fixture)).token);
    }
    // The token with the oldest check was evicted.
    expect(fixture.authenticate(first.token)).toBeInstanceOf(Promise);
    const { token = '' } = others.at(-1) ?? {};
    expect(fixture.authenticate(token)).not.toBeInstanceOf(Promise);
  });

  test('that was checked again is not the first to be evicted', async () => {
    using fixture = aFixture();
    const first = await aToken(fixture);
    await fixture.authenticate(first.token);
    const later = NOW + FRESH_MS;
    for (let count = 1; count < 10_000; count += 1) {
      const { token } = await aToken(fixture);
      await fixture.authenticate(token, later);
    }
    await fixture.authenticate(first.token, later);
    const oneMore = await aToken(fixture);
    await fixture.authenticate(oneMore.token, later);
    expect(fixture.authenticate(first.token, later)).not.toBeInstanceOf(Promise);
  });

  test('that failed a check stays refused when the clock steps back', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    expect(await verdict(fixture, token)).toBe('accepted');
    await fixture.stores.sessions.revoke(claims.sessionId);
    expect(await verdict(fixture, token, { now: NOW + FRESH_MS })).toBe('session-gone');
    expect(await verdict(fixture, token)).toBe('session-gone');
  });

  test('is looked up once for concurrent requests', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    const callers = await Promise.all(
      Array.from({ length: 50 }, async () => fixture.authenticate(token)),
    );
    expect(new Set<Caller>(callers).size).toBe(1);
    expect(fixture.lookups()).toBe(1);
  });
});

test('An authenticator that is disposed of ends its subscription', () => {
  const stores = createMemoryStores(() => NOW);
  let subscribers = 0;
  const revocations: Stores['revocations'] = {
    publish: () => Promise.resolve(),
    subscribe: () => {
      subscribers += 1;
      return () => void (subscribers -= 1);
    },
  };
  const externalTokens = new ExternalTokens(new Sealer([{ secret: Buffer.alloc(32) }]));
  const authenticator = new ExternalTokenAuthenticator({
    externalTokens,
    applications: NO_APPLICATIONS,
    stores: { ...stores, revocations },
    isOfProvider: () => true,
    outageGraceSeconds: () => 0,
    now: () => NOW,
  });
  expect(subscribers).toBe(1);
  authenticator[Symbol.dispose]();
  expect(subscribers).toBe(0);
});
