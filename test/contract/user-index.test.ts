import { describe, expect, test } from '@jest/globals';

import { MAX_USER_ENTRIES } from '../../proxy/store/user-index.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;
const ALICE = { provider: 'corp', issuer: 'https://idp.example.com', subject: 'alice' };
const CONNECTION = {
  id: 'connection-1',
  routeId: 'route-1',
  binding: 'binding-1',
  routeName: 'tools',
};

function idsOf(entries: readonly { readonly id: string }[]): readonly string[] {
  return entries.map(({ id }) => id);
}

describe.each(STORE_IMPLEMENTATIONS)('index of users in $name', ({ create }) => {
  test('lists the entries of a user, of one kind, in the order in which they were kept', async () => {
    await using under = await create();
    const { grantsOfUsers, signInsOfUsers } = under.stores;
    for (const id of ['grant-1', 'grant-2', 'grant-1']) {
      expect(await grantsOfUsers.keep(ALICE, { id }, DAY)).toEqual([]);
    }
    expect(idsOf(await grantsOfUsers.list(ALICE))).toEqual(['grant-2', 'grant-1']);
    expect(await signInsOfUsers.list(ALICE)).toEqual([]);
    for (const change of [{ subject: 'bob' }, { provider: 'other' }, { issuer: 'https://other' }]) {
      expect(await grantsOfUsers.list({ ...ALICE, ...change })).toEqual([]);
    }
  });

  test('replaces an entry by a newer one with its id', async () => {
    await using under = await create();
    const { connectionsOfUsers } = under.stores;
    await connectionsOfUsers.keep(ALICE, CONNECTION, DAY);
    const renamed = { ...CONNECTION, routeName: 'tools of another name' };
    await connectionsOfUsers.keep(ALICE, renamed, DAY);
    expect(await connectionsOfUsers.list(ALICE)).toEqual([renamed]);
  });

  test('loses none of fifty entries that are kept at once', async () => {
    await using under = await create();
    const { grantsOfUsers } = under.stores;
    const ids = await fiftyAtOnce(async (index) => {
      const id = `grant-${String(index)}`;
      await grantsOfUsers.keep(ALICE, { id }, DAY);
      return id;
    });
    expect([...idsOf(await grantsOfUsers.list(ALICE))].sort()).toEqual([...ids].sort());
  });

  test('removes entries, and accepts ids that are gone', async () => {
    await using under = await create();
    const { grantsOfUsers } = under.stores;
    await grantsOfUsers.remove(ALICE, ['grant-1']);
    for (const id of ['grant-1', 'grant-2', 'grant-3']) {
      await grantsOfUsers.keep(ALICE, { id }, DAY);
    }
    await grantsOfUsers.remove(ALICE, ['grant-1', 'grant-3', 'gone']);
    expect(idsOf(await grantsOfUsers.list(ALICE))).toEqual(['grant-2']);
  });

  test('lives as long as the entry that lives longest', async () => {
    await using under = await create();
    const { grantsOfUsers } = under.stores;
    await grantsOfUsers.keep(ALICE, { id: 'grant-1' }, 2 * DAY);
    await grantsOfUsers.keep(ALICE, { id: 'grant-2' }, DAY);
    await grantsOfUsers.remove(ALICE, ['grant-2']);
    await under.advance(2 * DAY - MOMENT_SECONDS);
    expect(idsOf(await grantsOfUsers.list(ALICE))).toEqual(['grant-1']);
    await under.advance(MOMENT_SECONDS);
    expect(await grantsOfUsers.list(ALICE)).toEqual([]);
  });

  test('returns the oldest entries when a user has too many, so that they can be ended', async () => {
    await using under = await create();
    const { grantsOfUsers } = under.stores;
    for (let index = 0; index < MAX_USER_ENTRIES; index += 1) {
      expect(await grantsOfUsers.keep(ALICE, { id: `grant-${String(index)}` }, DAY)).toEqual([]);
    }
    // A use makes an entry the youngest.
    await grantsOfUsers.keep(ALICE, { id: 'grant-0' }, DAY);
    expect(idsOf(await grantsOfUsers.keep(ALICE, { id: 'one more' }, DAY))).toEqual(['grant-1']);
    const kept = await grantsOfUsers.list(ALICE);
    expect(kept).toHaveLength(MAX_USER_ENTRIES);
    expect(idsOf(kept)).toEqual(expect.arrayContaining(['grant-0', 'one more']));
  });
});
