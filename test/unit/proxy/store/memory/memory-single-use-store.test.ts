import { expect, test } from '@jest/globals';

import { MemorySingleUseStore } from '../../../../../proxy/store/memory/memory-single-use-store.ts';

const MAX_BYTES = 100_000;
const LONGEST = 'x'.repeat(2_000);

// Attack: strangers start sign-ins and authorizations until memory is full, or those of users are gone.
test('single-use records in memory are bounded in bytes, and an end site that fills them loses its own', async () => {
  const store = new MemorySingleUseStore<string, string>(() => 0, MAX_BYTES);
  await store.save('of a user', LONGEST, 60, 'end site of a user');
  const keys = Array.from({ length: 100 }, (_, index) => `of a stranger ${String(index)}`);
  for (const key of keys) await store.save(key, LONGEST, 60, 'end site of a stranger');
  const kept = await Promise.all(keys.map((key) => store.peek(key)));
  const bytes = kept.filter((value) => value !== null).length * 2 * LONGEST.length;
  expect(bytes).toBeGreaterThan(MAX_BYTES / 2);
  expect(bytes).toBeLessThan(MAX_BYTES);
  expect(kept.at(-1)).toBe(LONGEST);
  expect(await store.peek('of a user')).toBe(LONGEST);
});
