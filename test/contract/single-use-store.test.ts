import { describe, expect, test } from '@jest/globals';

import type { SignInCode } from '../../proxy/records/sign-in-records.ts';
import { fiftyAtOnce, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const CODE: SignInCode = {
  sessionId: 'session-1',
  targetOrigin: 'https://app.example.com',
  returnPath: '/reports?year=2026',
  preLoginHash: 'pre-login-hash',
};
const TTL_SECONDS = 60;

describe.each(STORE_IMPLEMENTATIONS)('single-use store in $name', ({ create }) => {
  test('gives a record to the one who consumes it, and to nobody after', async () => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save('key', CODE, TTL_SECONDS);
    expect(await signInCodes.consume('key')).toEqual(CODE);
    expect(await signInCodes.consume('key')).toBeNull();
    expect(await signInCodes.peek('key')).toBeNull();
  });

  test('has one winner among fifty who consume at once', async () => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save('key', CODE, TTL_SECONDS);
    const results = await fiftyAtOnce(() => signInCodes.consume('key'));
    expect(results.filter((result) => result !== null)).toEqual([CODE]);
  });

  test('shows a record without using it', async () => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save('key', CODE, TTL_SECONDS);
    expect(await signInCodes.peek('key')).toEqual(CODE);
    expect(await signInCodes.consume('key')).toEqual(CODE);
  });

  test.each(['peek', 'consume'] as const)('finds nothing by %s after expiry', async (look) => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save('key', CODE, TTL_SECONDS);
    await under.advance(TTL_SECONDS);
    expect(await signInCodes[look]('key')).toBeNull();
  });

  test('keeps the records of different stores apart', async () => {
    await using under = await create();
    await under.stores.signInCodes.save('key', CODE, TTL_SECONDS);
    expect(await under.stores.pendingSignIns.peek('key')).toBeNull();
    expect(await under.stores.pendingAuthorizations.peek('key')).toBeNull();
  });
});
