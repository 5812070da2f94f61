import { expect, test } from '@jest/globals';

import type { InternalTokenKey } from '../../../../../proxy/records/internal-token.ts';
import { MemoryInternalTokenStore } from '../../../../../proxy/store/memory/memory-internal-token-store.ts';
import { AN_INTERNAL_TOKEN } from '../../../../contract/redis-records.ts';

const MAX_BYTES = 100_000;
const LONG_TOKEN = { ...AN_INTERNAL_TOKEN, accessToken: 'x'.repeat(2000) };

function keyOf(subject: string, routeId: string): InternalTokenKey {
  return { user: { provider: 'corp', subject }, routeId, binding: 'binding-1' };
}

test('internal tokens in memory are bounded in bytes, and a user who has most loses the own ones', async () => {
  const store = new MemoryInternalTokenStore(() => 0, MAX_BYTES);
  await store.save(keyOf('alice', 'route'), LONG_TOKEN);
  const keys = Array.from({ length: 100 }, (_, index) =>
    keyOf('mallory', `route ${String(index)}`),
  );
  for (const key of keys) await store.save(key, LONG_TOKEN);
  const kept = await Promise.all(keys.map((key) => store.get(key)));
  const bytes = kept.filter((found) => found !== null).length * 2 * LONG_TOKEN.accessToken.length;
  expect(bytes).toBeGreaterThan(MAX_BYTES / 2);
  expect(bytes).toBeLessThan(MAX_BYTES);
  expect(kept.at(-1)?.token).toEqual(LONG_TOKEN);
  expect((await store.get(keyOf('alice', 'route')))?.token).toEqual(LONG_TOKEN);
});
