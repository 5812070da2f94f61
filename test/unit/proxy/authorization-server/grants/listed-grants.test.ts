import { expect, test } from '@jest/globals';

import { listGrant } from '../../../../../proxy/authorization-server/grants/listed-grants.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import { MAX_USER_ENTRIES } from '../../../../../proxy/store/user-index.ts';
import { AN_IDENTITY, aGrant } from '../../../../contract/redis-records.ts';

const DAY = 86_400;

test('a grant that leaves the list of its user is revoked, unless it was used', async () => {
  const stores = createMemoryStores();
  for (const id of ['unused', 'used']) {
    await listGrant(AN_IDENTITY, id, stores, DAY);
    await stores.grants.create(aGrant(id), DAY);
  }
  for (let index = 2; index < MAX_USER_ENTRIES; index += 1) {
    await listGrant(AN_IDENTITY, `grant-${String(index)}`, stores, DAY);
  }
  await listGrant(AN_IDENTITY, 'used', stores, DAY);
  await listGrant(AN_IDENTITY, 'one more', stores, DAY);

  expect(await stores.grants.get('unused')).toBeNull();
  expect(await stores.grants.get('used')).toEqual(aGrant('used'));
});
