import { expect, test } from '@jest/globals';

import { CheckCache } from '../../../../proxy/authentication/check-cache.ts';
import { MemoryRevocations } from '../../../../proxy/store/memory/memory-revocations.ts';

test('a check is never taken for that of another key with the same end', async () => {
  using cache = new CheckCache<string>({
    revocations: new MemoryRevocations(),
    maxEntries: 10,
    dependsOn: () => false,
    isCurrent: () => true,
    expiryOf: () => Infinity,
    outageGraceSeconds: () => 0,
    now: () => 0,
  });
  const ask = (key: string, stored: string | null): string | null | Promise<string | null> =>
    cache.get(key, () => Promise.resolve(stored));
  const [mine, theirs, unknown] = ['a 012345', 'another 012345', 'a third 012345'];

  expect(await ask(mine, 'me')).toBe('me');
  expect(await ask(theirs, 'them')).toBe('them');
  expect(await ask(mine, 'me')).toBe('me');
  expect(await ask(unknown, null)).toBeNull();
  expect(ask(mine, null)).toBe('me');
});
