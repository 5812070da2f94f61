import { describe, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { SignInCode } from '../../proxy/records/sign-in-code.ts';
import { fiftyAtOnce, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';
import { anOrigin } from '../support/an-origin.ts';

const KEY = hashToken('key');

const CODE: SignInCode = {
  sessionId: 'session-1',
  targetOrigin: anOrigin('https://app.example.com'),
  returnPath: '/reports?year=2026',
  targetHash: hashToken('target'),
};
const TTL_SECONDS = 60;

describe.each(STORE_IMPLEMENTATIONS)('single-use store in $name', ({ create }) => {
  test('gives a record to the first consumer only', async () => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save(KEY, CODE, TTL_SECONDS);
    expect(await signInCodes.consume(KEY)).toEqual(CODE);
    expect(await signInCodes.consume(KEY)).toBeNull();
    expect(await signInCodes.peek(KEY)).toBeNull();
  });

  test('gives a record to one of fifty concurrent consumers', async () => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save(KEY, CODE, TTL_SECONDS);
    const results = await fiftyAtOnce(() => signInCodes.consume(KEY));
    expect(results.filter((result) => result !== null)).toEqual([CODE]);
  });

  test('reads a record without using it', async () => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save(KEY, CODE, TTL_SECONDS);
    expect(await signInCodes.peek(KEY)).toEqual(CODE);
    expect(await signInCodes.consume(KEY)).toEqual(CODE);
  });

  test.each(['peek', 'consume'] as const)('%s finds nothing after expiry', async (look) => {
    await using under = await create();
    const { signInCodes } = under.stores;
    await signInCodes.save(KEY, CODE, TTL_SECONDS);
    await under.advance(TTL_SECONDS);
    expect(await signInCodes[look](KEY)).toBeNull();
  });

  test('separates the records of different stores', async () => {
    await using under = await create();
    await under.stores.signInCodes.save(KEY, CODE, TTL_SECONDS);
    expect(await under.stores.pendingSignIns.peek(KEY)).toBeNull();
    expect(await under.stores.pendingAuthorizations.peek('key')).toBeNull();
  });
});
