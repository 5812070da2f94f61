import { expect, test } from '@jest/globals';

import { CheckCache } from '../../../../proxy/authentication/check-cache.ts';
import { MemoryRevocations } from '../../../../proxy/store/memory/memory-revocations.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';

const VALUE = { provider: 'old' };

/** A cache of values that count while the configuration names their provider. */
function startCache() {
  const configuration = { provider: 'old' };
  const cache = new CheckCache<typeof VALUE>({
    revocations: new MemoryRevocations(),
    maxEntries: 10,
    dependsOn: () => false,
    isCurrent: ({ provider }) => provider === configuration.provider,
    expiryOf: () => Infinity,
    outageGraceSeconds: () => 60,
    now: () => 0,
  });
  return { cache, change: () => void (configuration.provider = 'new') };
}

const found = (): Promise<typeof VALUE> => Promise.resolve(VALUE);

test('a value is not returned from the cache once the configuration has changed', async () => {
  const { cache, change } = startCache();
  expect(await cache.get('key', found)).toBe(VALUE);
  change();
  expect(await cache.get('key', found)).toBeNull();
});

test('a value is not returned by a check that began before the configuration changed', async () => {
  const { cache, change } = startCache();
  const slow = Promise.withResolvers<typeof VALUE>();
  const asked = cache.get('key', () => slow.promise);
  change();
  slow.resolve(VALUE);
  expect(await asked).toBeNull();
});

test('a value of an earlier configuration has no grace period', async () => {
  const { cache, change } = startCache();
  await cache.get('key', found);
  change();
  const away = (): Promise<never> => Promise.reject(new StoreUnavailableError('down'));
  await expect(cache.get('key', away)).rejects.toThrow(StoreUnavailableError);
});
