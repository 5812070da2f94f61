import { expect, test } from '@jest/globals';

import { MemoryRefreshTokenStore } from '../../../../../proxy/store/memory/memory-refresh-token-store.ts';

const ROTATION = { sealedSuccessor: 'sealed', graceSeconds: 60, ttlSeconds: 60 };

test('the least recently used family makes room for a new one, with all its tokens', async () => {
  const store = new MemoryRefreshTokenStore(() => 0, 2);
  await store.save('idle', { grantId: 'idle' }, 60);
  await store.rotate('idle', { ...ROTATION, successorHash: 'idle-2' });
  await store.save('used', { grantId: 'used' }, 60);
  await store.rotate('idle-2', { ...ROTATION, successorHash: 'idle-3' });
  await store.rotate('used', { ...ROTATION, successorHash: 'used-2' });
  await store.save('new', { grantId: 'new' }, 60);
  for (const hash of ['idle', 'idle-2', 'idle-3']) expect(await store.get(hash)).toBeNull();
  for (const hash of ['used', 'used-2', 'new']) expect(await store.get(hash)).not.toBeNull();
});
