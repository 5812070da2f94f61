import { describe, expect, test } from '@jest/globals';

import type { InternalToken, InternalTokenKey } from '../../proxy/records/internal-token.ts';
import type { InternalTokenStore } from '../../proxy/store/internal-token-store.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const LEASE_SECONDS = 60;

const KEY: InternalTokenKey = {
  user: { provider: 'corp', issuer: 'https://idp.example.com', subject: 'u-1' },
  routeId: 'route-1',
  binding: 'binding-1',
};

const ISSUED_AT = Date.UTC(2026, 0, 1);

const TOKEN: InternalToken = {
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  expiresAt: ISSUED_AT + HOUR * 1000,
  issuedAt: ISSUED_AT,
  issuer: 'https://as.example.com',
  resource: 'https://upstream.example.com/mcp',
  clientId: 'client-1',
  redirectUri: 'https://files.example.com/.gateway/mcp/client/oauth/callback',
  scopes: ['read', 'write'],
};

const NEXT: InternalToken = { ...TOKEN, accessToken: 'access-2', refreshToken: 'refresh-2' };

const THAT_DOES_NOT_EXPIRE: InternalToken = {
  accessToken: 'access-1',
  issuedAt: ISSUED_AT,
  issuer: 'https://as.example.com',
  resource: 'https://upstream.example.com/mcp',
  clientId: 'client-1',
  redirectUri: 'https://files.example.com/.gateway/mcp/client/oauth/callback',
  scopes: [],
};

const WITHOUT_REFRESH_TOKEN = { ...THAT_DOES_NOT_EXPIRE, expiresAt: ISSUED_AT + HOUR * 1000 };

async function versionOf(tokens: InternalTokenStore): Promise<number> {
  const found = await tokens.get(KEY);
  if (found === null) throw new Error('there is no token');
  return found.version;
}

async function claimIdOf(tokens: InternalTokenStore): Promise<string> {
  const claim = await tokens.claimRenewal(KEY, LEASE_SECONDS);
  if (claim?.kind !== 'claimed') throw new Error(`not claimed but ${String(claim?.kind)}`);
  return claim.claimId;
}

describe.each(STORE_IMPLEMENTATIONS)('internal token store in $name', ({ create }) => {
  test('returns a token as it was saved', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    expect(await internalTokens.get(KEY)).toBeNull();
    await internalTokens.save(KEY, TOKEN);
    expect(await internalTokens.get(structuredClone(KEY))).toEqual({
      token: TOKEN,
      version: expect.any(Number),
    });
  });

  test.each<Partial<InternalTokenKey>>([
    { user: { ...KEY.user, provider: 'other' } },
    { user: { ...KEY.user, issuer: 'https://other.example.com' } },
    { user: { provider: 'corp', subject: 'u-1' } },
    { user: { ...KEY.user, subject: 'u-2' } },
    { routeId: 'route-2' },
    { binding: 'binding-2' },
  ])('gives no token to a key that differs in %j', async (change) => {
    await using under = await create();
    const { internalTokens } = under.stores;
    const other = { ...KEY, ...change };
    await internalTokens.save(KEY, TOKEN);
    expect(await internalTokens.get(other)).toBeNull();
    expect(await internalTokens.claimRenewal(other, LEASE_SECONDS)).toBeNull();
    expect(await internalTokens.update(other, NEXT, await versionOf(internalTokens))).toBeNull();
    expect(await internalTokens.drop(other)).toBe(false);
    expect((await internalTokens.get(KEY))?.token).toEqual(TOKEN);
  });

  test('keeps a token for as long as its refresh token may be good', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    await under.advance(90 * DAY - MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).toBeNull();
    expect(await internalTokens.claimRenewal(KEY, LEASE_SECONDS)).toBeNull();
  });

  test('begins that time anew with each refresh', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    await under.advance(89 * DAY);
    await internalTokens.update(KEY, NEXT, await versionOf(internalTokens));
    await under.advance(90 * DAY - MOMENT_SECONDS);
    expect((await internalTokens.get(KEY))?.token).toEqual(NEXT);
    await under.advance(MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).toBeNull();
  });

  test('keeps a token that cannot be refreshed until it expires', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, WITHOUT_REFRESH_TOKEN);
    await under.advance(HOUR - MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).toBeNull();
  });

  test.each([
    ['does not expire', THAT_DOES_NOT_EXPIRE],
    ['lives for centuries', { ...THAT_DOES_NOT_EXPIRE, expiresAt: Number.MAX_SAFE_INTEGER }],
  ])('keeps a token that %s for 90 days', async (_, token) => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, token);
    await under.advance(90 * DAY - MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    expect(await internalTokens.get(KEY)).toBeNull();
  });

  test('drops a token and the claim to renew it', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    const version = await versionOf(internalTokens);
    const claimId = await claimIdOf(internalTokens);
    expect(await internalTokens.drop(KEY)).toBe(true);
    expect(await internalTokens.drop(KEY)).toBe(false);
    expect(await internalTokens.get(KEY)).toBeNull();
    expect(await internalTokens.extendRenewal(KEY, claimId, LEASE_SECONDS)).toBe(false);
    expect(await internalTokens.update(KEY, NEXT, version)).toBeNull();
    expect(await internalTokens.get(KEY)).toBeNull();
  });

  test('drops one version and no other', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    const refused = await versionOf(internalTokens);
    const next = await internalTokens.update(KEY, NEXT, refused);
    if (next === null) throw new Error('not updated');
    expect(await internalTokens.drop(KEY, refused)).toBe(false);
    expect((await internalTokens.get(KEY))?.token).toEqual(NEXT);
    expect(await internalTokens.drop(KEY, next)).toBe(true);
    expect(await internalTokens.get(KEY)).toBeNull();
  });

  // Both use the version: a new connection must not be undone by what was known of the old one.
  test('a new connection outlives a refresh and a refusal of the one before it', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    const version = await versionOf(internalTokens);
    const claimId = await claimIdOf(internalTokens);
    const connected = { ...TOKEN, accessToken: 'access-of-the-new-connection' };
    await internalTokens.save(KEY, connected);
    expect(await internalTokens.update(KEY, NEXT, version)).toBeNull();
    expect(await internalTokens.drop(KEY, version)).toBe(false);
    expect(await internalTokens.extendRenewal(KEY, claimId, LEASE_SECONDS)).toBe(false);
    expect((await internalTokens.claimRenewal(KEY, LEASE_SECONDS))?.kind).toBe('claimed');
    expect((await internalTokens.get(KEY))?.token).toEqual(connected);
  });
});

describe.each(STORE_IMPLEMENTATIONS)('renewal of an internal token in $name', ({ create }) => {
  test('is claimed once among fifty at once', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    const claims = await fiftyAtOnce(() => internalTokens.claimRenewal(KEY, LEASE_SECONDS));
    expect(claims.filter((claim) => claim?.kind === 'claimed')).toEqual([
      { kind: 'claimed', claimId: expect.any(String), ...(await internalTokens.get(KEY)) },
    ]);
    expect(claims.filter((claim) => claim?.kind === 'busy')).toHaveLength(49);
  });

  test('updates once among fifty at once', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    const version = await versionOf(internalTokens);
    const updated = await fiftyAtOnce(async (index) => {
      const accessToken = `access of ${String(index)}`;
      const next = await internalTokens.update(KEY, { ...TOKEN, accessToken }, version);
      return next === null ? null : accessToken;
    });
    const winners = updated.filter((accessToken) => accessToken !== null);
    expect(winners).toHaveLength(1);
    expect((await internalTokens.get(KEY))?.token.accessToken).toBe(winners[0]);
  });

  test('rests after a failure, and is free after a success or the end of its lease', async () => {
    await using under = await create();
    const { internalTokens } = under.stores;
    await internalTokens.save(KEY, TOKEN);
    await internalTokens.releaseRenewal(KEY, await claimIdOf(internalTokens), 120);
    expect(await internalTokens.claimRenewal(KEY, LEASE_SECONDS)).toEqual({ kind: 'resting' });
    await under.advance(120);
    await internalTokens.releaseRenewal(KEY, await claimIdOf(internalTokens));
    const lost = await claimIdOf(internalTokens);
    await under.advance(LEASE_SECONDS - MOMENT_SECONDS);
    expect(await internalTokens.extendRenewal(KEY, lost, LEASE_SECONDS)).toBe(true);
    await under.advance(LEASE_SECONDS - MOMENT_SECONDS);
    expect(await internalTokens.claimRenewal(KEY, LEASE_SECONDS)).toEqual({ kind: 'busy' });
    await under.advance(MOMENT_SECONDS);
    await claimIdOf(internalTokens);
    expect(await internalTokens.extendRenewal(KEY, lost, LEASE_SECONDS)).toBe(false);
  });
});
