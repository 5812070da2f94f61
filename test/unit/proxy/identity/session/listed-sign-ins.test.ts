import { expect, test } from '@jest/globals';

import { listSignIn } from '../../../../../proxy/identity/session/listed-sign-ins.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import { MAX_USER_ENTRIES } from '../../../../../proxy/store/user-index.ts';
import { AN_IDENTITY, aSession, aSignIn } from '../../../../contract/redis-records.ts';

const DAY = 86_400;

// Attack: a thief signs in until the victim's list has no room, so that the first sign-in of the thief is on none.
test('a sign-in that leaves the list of its user is ended, with its session', async () => {
  const stores = createMemoryStores();
  const oldest = { ...aSignIn('oldest'), sessionId: 'session-of-the-oldest' };
  await listSignIn({ identity: AN_IDENTITY, signInId: 'oldest' }, stores, DAY);
  await stores.signIns.create(oldest, DAY);
  await stores.sessions.create(aSession('session-of-the-oldest', Date.now()));
  for (let index = 1; index < MAX_USER_ENTRIES; index += 1) {
    const signInId = `sign-in-${String(index)}`;
    await listSignIn({ identity: AN_IDENTITY, signInId }, stores, DAY);
  }
  expect(await stores.signIns.get('oldest')).not.toBeNull();

  await listSignIn({ identity: AN_IDENTITY, signInId: 'one more' }, stores, DAY);
  expect(await stores.signIns.get('oldest')).toBeNull();
  expect(await stores.sessions.get('session-of-the-oldest')).toBeNull();
});
