import { describe, expect, test } from '@jest/globals';

import type { RenewalClaim, Versioned } from '../../proxy/store/renewals.ts';
import type { SignInStore } from '../../proxy/store/sign-in-store.ts';
import type { SignInRecord } from '../../proxy/records/sign-in-record.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;
const LEASE_SECONDS = 60;
const REST_SECONDS = 120;

const SIGN_IN: SignInRecord = {
  id: 'sign-in-1',
  provider: { name: 'corp', issuer: 'https://idp.example.com', clientId: 'gatehouse' },
  identity: {
    provider: 'corp',
    subject: 'u-1',
    email: 'alice@example.com',
    name: 'Alice',
    groups: ['engineering', 'on call'],
    claims: { sub: 'u-1', nested: { level: 3 } },
  },
  sessionId: 'session-1',
  refreshToken: 'idp-refresh-1',
};

const RENEWED: SignInRecord = { ...SIGN_IN, sessionId: 'session-2', refreshToken: 'idp-refresh-2' };

async function versionOf(signIns: SignInStore): Promise<number> {
  const found = await signIns.get(SIGN_IN.id);
  if (found === null) throw new Error('there is no sign-in');
  return found.version;
}

async function claimIdOf(signIns: SignInStore): Promise<string> {
  const claim = await signIns.claimRenewal(SIGN_IN.id, LEASE_SECONDS);
  if (claim?.kind !== 'claimed') throw new Error(`not claimed but ${String(claim?.kind)}`);
  return claim.claimId;
}

function kindOf(claim: RenewalClaim<Versioned> | null): string | undefined {
  return claim?.kind;
}

describe.each(STORE_IMPLEMENTATIONS)('sign-in store in $name', ({ create }) => {
  test('returns a sign-in as it was created', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    expect(await signIns.get('sign-in-1')).toEqual({
      signIn: SIGN_IN,
      version: expect.any(Number),
    });
    expect(await signIns.get('sign-in-2')).toBeNull();
  });

  test('forgets a sign-in when it expires', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    expect(await signIns.get('sign-in-1')).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    expect(await signIns.get('sign-in-1')).toBeNull();
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toBeNull();
  });

  test('extends the lifetime of a sign-in, never shortens it, and restores none', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, 2 * DAY);
    await signIns.extend('sign-in-1', DAY);
    await under.advance(DAY);
    expect(await signIns.get('sign-in-1')).not.toBeNull();
    await signIns.extend('sign-in-1', 3 * DAY);
    await under.advance(3 * DAY - MOMENT_SECONDS);
    expect(await signIns.get('sign-in-1')).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    await signIns.extend('sign-in-1', DAY);
    expect(await signIns.get('sign-in-1')).toBeNull();
  });

  test('ends a sign-in for good, whatever the holder of its claim does later', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const version = await versionOf(signIns);
    const claimId = await claimIdOf(signIns);
    await signIns.end('sign-in-1');
    await signIns.extend('sign-in-1', DAY);
    expect(await signIns.update(RENEWED, version)).toBeNull();
    expect(await signIns.extendRenewal('sign-in-1', claimId, LEASE_SECONDS)).toBe(false);
    await signIns.releaseRenewal('sign-in-1', claimId, REST_SECONDS);
    expect(await signIns.get('sign-in-1')).toBeNull();
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toBeNull();
  });

  test('accepts the end of an unknown sign-in', async () => {
    await using under = await create();
    await expect(under.stores.signIns.end('unknown')).resolves.toBeUndefined();
  });
});

describe.each(STORE_IMPLEMENTATIONS)('update of a sign-in in $name', ({ create }) => {
  test('replaces the version that was read', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const version = await versionOf(signIns);
    const next = await signIns.update(RENEWED, version);
    expect(next).toBeGreaterThan(version);
    expect(await signIns.get('sign-in-1')).toEqual({ signIn: RENEWED, version: next });
  });

  test('changes nothing if the version has changed', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const version = await versionOf(signIns);
    const next = await signIns.update(RENEWED, version);
    expect(await signIns.update(SIGN_IN, version)).toBeNull();
    expect(await signIns.get('sign-in-1')).toEqual({ signIn: RENEWED, version: next });
  });

  test('succeeds once among fifty concurrent updates of one version', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const version = await versionOf(signIns);
    const updated = await fiftyAtOnce(async (index) => {
      const sessionId = `session of ${String(index)}`;
      return (await signIns.update({ ...SIGN_IN, sessionId }, version)) === null ? null : sessionId;
    });
    const winners = updated.filter((sessionId) => sessionId !== null);
    expect(winners).toHaveLength(1);
    expect((await signIns.get('sign-in-1'))?.signIn.sessionId).toBe(winners[0]);
  });

  test('forgets a refresh token that the new sign-in does not have', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const { id, provider, identity, sessionId } = SIGN_IN;
    const withoutToken = { id, provider, identity, sessionId };
    await signIns.update(withoutToken, await versionOf(signIns));
    expect((await signIns.get('sign-in-1'))?.signIn).toEqual(withoutToken);
  });

  test('does not change the lifetime', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    await signIns.update(RENEWED, await versionOf(signIns));
    await under.advance(MOMENT_SECONDS);
    expect(await signIns.get('sign-in-1')).toBeNull();
  });

  test('does not change the claim', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    await claimIdOf(signIns);
    await signIns.update(RENEWED, await versionOf(signIns));
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toEqual({ kind: 'busy' });
  });

  test('creates no sign-in', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    expect(await signIns.update(SIGN_IN, 1)).toBeNull();
    expect(await signIns.get('sign-in-1')).toBeNull();
  });
});

describe.each(STORE_IMPLEMENTATIONS)('claim to renew a sign-in in $name', ({ create }) => {
  test('succeeds once among fifty concurrent claims, and reports busy to the others', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const claims = await fiftyAtOnce(() => signIns.claimRenewal('sign-in-1', LEASE_SECONDS));
    const kinds = claims.map(kindOf);
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(49);
  });

  test('returns the current sign-in', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const version = await signIns.update(RENEWED, await versionOf(signIns));
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toEqual({
      kind: 'claimed',
      claimId: expect.any(String),
      signIn: RENEWED,
      version,
    });
  });

  test('is free again when its holder releases it', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    await signIns.releaseRenewal('sign-in-1', await claimIdOf(signIns));
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('claimed');
  });

  test('is free again when the lease of a holder that died ends', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    await claimIdOf(signIns);
    await under.advance(LEASE_SECONDS - MOMENT_SECONDS);
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('busy');
    await under.advance(MOMENT_SECONDS);
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('claimed');
  });

  test('lasts for as long as its holder extends it', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const claimId = await claimIdOf(signIns);
    await under.advance(LEASE_SECONDS - MOMENT_SECONDS);
    expect(await signIns.extendRenewal('sign-in-1', claimId, LEASE_SECONDS)).toBe(true);
    await under.advance(LEASE_SECONDS - MOMENT_SECONDS);
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('busy');
    await under.advance(MOMENT_SECONDS);
    expect(await signIns.extendRenewal('sign-in-1', claimId, LEASE_SECONDS)).toBe(false);
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('claimed');
  });

  test('can be extended by its holder only', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const outlived = await claimIdOf(signIns);
    await under.advance(LEASE_SECONDS);
    const claimId = await claimIdOf(signIns);
    expect(await signIns.extendRenewal('sign-in-1', outlived, DAY)).toBe(false);
    await under.advance(LEASE_SECONDS - MOMENT_SECONDS);
    await signIns.releaseRenewal('sign-in-1', claimId, REST_SECONDS);
    expect(await signIns.extendRenewal('sign-in-1', claimId, DAY)).toBe(false);
    await under.advance(REST_SECONDS);
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('claimed');
    expect(await signIns.extendRenewal('unknown', claimId, DAY)).toBe(false);
  });

  test('cannot be released by a holder whose lease ended', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const outlived = await claimIdOf(signIns);
    await under.advance(LEASE_SECONDS);
    await claimIdOf(signIns);
    await signIns.releaseRenewal('sign-in-1', outlived);
    await signIns.releaseRenewal('sign-in-1', outlived, REST_SECONDS);
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toEqual({ kind: 'busy' });
  });

  test('is refused after a failure for the rest that its holder set', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    const claimId = await claimIdOf(signIns);
    await signIns.releaseRenewal('sign-in-1', claimId, REST_SECONDS);
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toEqual({ kind: 'resting' });
    await under.advance(REST_SECONDS - MOMENT_SECONDS);
    await signIns.releaseRenewal('sign-in-1', claimId);
    expect(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS)).toEqual({ kind: 'resting' });
    await under.advance(MOMENT_SECONDS);
    expect(kindOf(await signIns.claimRenewal('sign-in-1', LEASE_SECONDS))).toBe('claimed');
  });

  test('is for one sign-in only', async () => {
    await using under = await create();
    const { signIns } = under.stores;
    await signIns.create(SIGN_IN, DAY);
    await signIns.create({ ...SIGN_IN, id: 'sign-in-2' }, DAY);
    await claimIdOf(signIns);
    expect(kindOf(await signIns.claimRenewal('sign-in-2', LEASE_SECONDS))).toBe('claimed');
    expect(await signIns.claimRenewal('unknown', LEASE_SECONDS)).toBeNull();
  });
});
