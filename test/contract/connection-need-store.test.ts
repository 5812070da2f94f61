import { describe, expect, test } from '@jest/globals';

import { anInternalTokenKey } from './redis-records.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const HOUR = 3600;
const KEY = anInternalTokenKey('route-1');
const OTHER = anInternalTokenKey('route-2');
const NEED = { scopes: ['admin', 'write'] };

describe.each(STORE_IMPLEMENTATIONS)('connection need store in $name', ({ create }) => {
  test('returns the last need of a key, and of no other', async () => {
    await using under = await create();
    const { connectionNeeds } = under.stores;
    await connectionNeeds.put(KEY, { ...NEED, scopes: [] }, HOUR);
    await connectionNeeds.put(KEY, NEED, HOUR);
    expect(await connectionNeeds.get(KEY)).toEqual(NEED);
    expect(await connectionNeeds.get(OTHER)).toBeNull();
  });

  test('forgets a need when it is deleted or expires', async () => {
    await using under = await create();
    const { connectionNeeds } = under.stores;
    await connectionNeeds.put(KEY, NEED, HOUR);
    await connectionNeeds.put(OTHER, NEED, HOUR);
    await connectionNeeds.delete(KEY);
    expect(await connectionNeeds.get(KEY)).toBeNull();
    await under.advance(HOUR - MOMENT_SECONDS);
    expect(await connectionNeeds.get(OTHER)).toEqual(NEED);
    await under.advance(MOMENT_SECONDS);
    expect(await connectionNeeds.get(OTHER)).toBeNull();
  });

  test('lets one of fifty ask for more scopes, once in a window and for each key', async () => {
    await using under = await create();
    const { connectionNeeds } = under.stores;
    const claims = await fiftyAtOnce(() => connectionNeeds.claimStepUp(KEY, HOUR));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await connectionNeeds.claimStepUp(OTHER, HOUR)).toBe(true);
    await under.advance(HOUR - MOMENT_SECONDS);
    expect(await connectionNeeds.claimStepUp(KEY, HOUR)).toBe(false);
    await under.advance(MOMENT_SECONDS);
    expect(await connectionNeeds.claimStepUp(KEY, HOUR)).toBe(true);
  });
});
