import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { LEASE_SECONDS, withLease } from '../../../../proxy/store/renewal-lease.ts';
import { MemorySignInStore } from '../../../../proxy/store/memory/memory-sign-in-store.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';
import { eventually } from '../../../support/eventually.ts';

const SIGN_IN = {
  id: 'sign-in-1',
  provider: { name: 'corp', issuer: 'https://idp.example.com', clientId: 'gatehouse' },
  identity: { provider: 'corp', subject: 'u-1', groups: [], claims: {} },
  sessionId: 'session-1',
};

let signIns: MemorySignInStore;

beforeEach(async () => {
  signIns = new MemorySignInStore(() => Date.now());
  await signIns.create(SIGN_IN, 3600);
});

afterEach(() => {
  jest.useRealTimers();
});

async function claimKind(): Promise<string | undefined> {
  return (await signIns.claimRenewal(SIGN_IN.id, LEASE_SECONDS))?.kind;
}

async function leased<Result>(
  work: Parameters<typeof withLease<string, Result>>[2],
): Promise<Result> {
  const claim = await signIns.claimRenewal(SIGN_IN.id, LEASE_SECONDS);
  if (claim?.kind !== 'claimed') throw new Error('it is not free');
  return withLease(signIns, { key: SIGN_IN.id, claimId: claim.claimId }, work);
}

describe('withLease', () => {
  test('holds the claim as long as the work runs, and no longer', async () => {
    jest.useFakeTimers();
    const { promise, resolve: finish } = Promise.withResolvers<string>();
    const result = leased(() => promise);
    await jest.advanceTimersByTimeAsync(4 * LEASE_SECONDS * 1000);
    expect(await claimKind()).toBe('busy');
    finish('done');
    expect(await result).toBe('done');
    expect(await claimKind()).toBe('claimed');
    await jest.advanceTimersByTimeAsync(LEASE_SECONDS * 1000);
    expect(await claimKind()).toBe('claimed');
  });

  test('continues when the store is unavailable while the claim is extended', async () => {
    jest.useFakeTimers();
    const { promise, resolve: finish } = Promise.withResolvers<string>();
    const result = leased(() => promise);
    const extendRenewal = jest.spyOn(signIns, 'extendRenewal');
    extendRenewal.mockRejectedValueOnce(new StoreUnavailableError('away'));
    await jest.advanceTimersByTimeAsync(2 * LEASE_SECONDS * 1000);
    expect(await claimKind()).toBe('busy');
    finish('done');
    expect(await result).toBe('done');
  });

  test('makes the sign-in rest when the work fails', async () => {
    await expect(leased(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await claimKind()).toBe('resting');
  });

  test('lets the work find out that the claim is lost', async () => {
    const seen = await leased(async (extend) => {
      const before = await extend();
      await signIns.end(SIGN_IN.id);
      return [before, await extend()];
    });
    expect(seen).toEqual([true, false]);
  });

  test('releases the claim when an unavailable store is available again', async () => {
    const releaseRenewal = jest.spyOn(signIns, 'releaseRenewal');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      releaseRenewal.mockRejectedValueOnce(new StoreUnavailableError('away'));
    }
    expect(await leased(() => Promise.resolve('done'))).toBe('done');
    expect(await claimKind()).toBe('busy');
    const isFree = async (): Promise<boolean> => (await claimKind()) === 'claimed';
    await eventually('it is free', isFree, (LEASE_SECONDS * 1000) / 2);
  });
});
