import { expect, test } from '@jest/globals';

import { MemoryRefreshTokenStore } from '../../../../../proxy/store/memory/memory-refresh-token-store.ts';
import { aToken, rotationTo } from '../../../../contract/refresh-tokens.ts';

test('a full store drops the least recently used family with all its tokens', async () => {
  const store = new MemoryRefreshTokenStore(() => 0, 2);
  await store.save(aToken('idle', 0, 'idle'), 60);
  await store.rotate(aToken('idle', 0, 'idle'), rotationTo('idle-2'));
  await store.save(aToken('used', 0, 'used'), 60);
  await store.rotate(aToken('idle-2', 1, 'idle'), rotationTo('idle-3'));
  await store.rotate(aToken('used', 0, 'used'), rotationTo('used-2'));
  await store.save(aToken('new', 0, 'new'), 60);
  for (const [generation, hash] of ['idle', 'idle-2', 'idle-3'].entries()) {
    expect(await store.stateOf(aToken(hash, generation, 'idle'))).toBeNull();
  }
  expect(await store.stateOf(aToken('used-2', 1, 'used'))).toBe('current');
  expect(await store.stateOf(aToken('new', 0, 'new'))).toBe('current');
});
