import { describe, expect, test } from '@jest/globals';

import type { RegisteredClient } from '../../proxy/records/registered-client.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;
const ISSUER = 'https://mcp.example.com';

const CLIENT: RegisteredClient = {
  id: 'client-1',
  issuer: ISSUER,
  metadata: {
    clientName: 'Inspector',
    redirectUris: ['http://127.0.0.1/callback'],
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code', 'refresh_token'],
  },
  registeredAt: 1_767_225_600_000,
};

describe.each(STORE_IMPLEMENTATIONS)('client store in $name', ({ create, manyWrites }) => {
  test('returns a client as it registered', async () => {
    await using under = await create();
    await under.stores.clients.register(CLIENT, DAY);
    expect(await under.stores.clients.get(ISSUER, 'client-1')).toEqual(CLIENT);
  });

  test('does not know a client at a different issuer', async () => {
    await using under = await create();
    await under.stores.clients.register(CLIENT, DAY);
    expect(await under.stores.clients.get('https://other.example.com', 'client-1')).toBeNull();
  });

  test('forgets a client that is removed, approved or not, and says whether it was known', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, DAY);
    await clients.register({ ...CLIENT, id: 'client-2', isUnapproved: true }, DAY);
    await clients.keepApproved(ISSUER, 'client-2', DAY);
    expect(await clients.remove('https://other.example.com', 'client-1')).toBe(false);
    for (const id of ['client-1', 'client-2']) {
      expect(await clients.remove(ISSUER, id)).toBe(true);
      expect(await clients.get(ISSUER, id)).toBeNull();
      expect(await clients.remove(ISSUER, id)).toBe(false);
    }
  });

  test('of fifty removals at once, one is told that the client was known', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, DAY);
    const removed = await fiftyAtOnce(() => clients.remove(ISSUER, 'client-1'));
    expect(removed.filter(Boolean)).toHaveLength(1);
  });

  test('an approval at the same time does not bring a removed client back', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register({ ...CLIENT, isUnapproved: true }, DAY);
    await fiftyAtOnce(async (index) => {
      if (index === 7) await clients.remove(ISSUER, 'client-1');
      else await clients.keepApproved(ISSUER, 'client-1', DAY);
    });
    expect(await clients.get(ISSUER, 'client-1')).toBeNull();
  });

  test('forgets a client that is not used', async () => {
    await using under = await create();
    await under.stores.clients.register(CLIENT, DAY);
    await under.advance(DAY);
    expect(await under.stores.clients.get(ISSUER, 'client-1')).toBeNull();
  });

  test('extends the lifetime of a client that is used', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    await clients.keepApproved(ISSUER, 'client-1', DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    expect(await clients.get(ISSUER, 'client-1')).toEqual(CLIENT);
    await under.advance(MOMENT_SECONDS);
    expect(await clients.get(ISSUER, 'client-1')).toBeNull();
  });

  test('a client that a user approves is not unapproved afterwards, and keeps all else', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register({ ...CLIENT, isUnapproved: true }, DAY, '203.0.113.7');
    expect(await clients.get(ISSUER, 'client-1')).toEqual({ ...CLIENT, isUnapproved: true });
    await clients.keepApproved(ISSUER, 'client-1', 2 * DAY);
    expect(await clients.get(ISSUER, 'client-1')).toEqual(CLIENT);
    await under.advance(2 * DAY - MOMENT_SECONDS);
    await clients.keepApproved(ISSUER, 'client-1', DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    expect(await clients.get(ISSUER, 'client-1')).toEqual(CLIENT);
  });

  test('no number of registrations pushes out a client that a user approved', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register({ ...CLIENT, isUnapproved: true }, DAY, 'user');
    await clients.keepApproved(ISSUER, 'client-1', DAY);
    for (let index = 0; index < manyWrites; index += 1) {
      const stranger = { ...CLIENT, id: `stranger-${String(index)}`, isUnapproved: true } as const;
      await clients.register(stranger, DAY, `site-${String(index)}`);
    }
    expect(await clients.get(ISSUER, 'client-1')).toEqual(CLIENT);
  });

  test('one end site that registers without end pushes out no client of another', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register({ ...CLIENT, isUnapproved: true }, DAY, 'user');
    for (let index = 0; index < manyWrites; index += 1) {
      const stranger = { ...CLIENT, id: `stranger-${String(index)}`, isUnapproved: true } as const;
      await clients.register(stranger, DAY, 'attacker');
    }
    expect(await clients.get(ISSUER, 'client-1')).not.toBeNull();
  });

  test('never shortens the lifetime of a client that is used', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, 2 * DAY);
    await clients.keepApproved(ISSUER, 'client-1', DAY);
    await under.advance(DAY);
    expect(await clients.get(ISSUER, 'client-1')).not.toBeNull();
  });

  test('does not restore an expired client that is used', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, DAY);
    await under.advance(DAY);
    await clients.keepApproved(ISSUER, 'client-1', DAY);
    expect(await clients.get(ISSUER, 'client-1')).toBeNull();
  });
});
