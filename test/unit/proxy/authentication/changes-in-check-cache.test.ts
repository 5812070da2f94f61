import { beforeEach, expect, test } from '@jest/globals';

import { CheckCache } from '../../../../proxy/authentication/check-cache.ts';
import { MemoryRevocations } from '../../../../proxy/store/memory/memory-revocations.ts';

let revocations: MemoryRevocations;
let cache: CheckCache<string>;
/** How the store responds. */
let store: () => Promise<string | null>;

beforeEach(() => {
  revocations = new MemoryRevocations();
  store = () => Promise.resolve('old');
  cache = new CheckCache<string>({
    revocations,
    maxEntries: 10,
    dependsOn: () => false,
    isCurrent: () => true,
    expiryOf: () => Infinity,
    outageGraceSeconds: () => 60,
    now: () => 1_000_000,
  });
});

function ask(key: string): string | null | Promise<string | null> {
  return cache.get(key, () => store());
}

function change(key: string): Promise<void> {
  return revocations.publish({ kind: 'internal-token', keyHash: key });
}

test('A change of one value has it looked up again, and no other', async () => {
  await Promise.all([ask('one'), ask('two')]);
  await change('one');
  store = () => Promise.resolve('new');
  expect(await ask('one')).toBe('new');
  expect(ask('two')).toBe('old');
});

test('A value that changes while it is looked up is looked up again', async () => {
  const slow = Promise.withResolvers<string>();
  store = () => slow.promise;
  const asked = ask('one');
  await change('one');
  store = () => Promise.resolve('new');
  slow.resolve('old');
  expect(await asked).toBe('new');
  expect(ask('one')).toBe('new');
});
