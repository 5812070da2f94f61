import { describe, expect, test } from '@jest/globals';

import type { RegisteredClient } from '../../proxy/records/registered-client.ts';
import { MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

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

describe.each(STORE_IMPLEMENTATIONS)('client store in $name', ({ create }) => {
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
    await clients.touch(ISSUER, 'client-1', DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    expect(await clients.get(ISSUER, 'client-1')).toEqual(CLIENT);
    await under.advance(MOMENT_SECONDS);
    expect(await clients.get(ISSUER, 'client-1')).toBeNull();
  });

  test('never shortens the lifetime of a client that is used', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, 2 * DAY);
    await clients.touch(ISSUER, 'client-1', DAY);
    await under.advance(DAY);
    expect(await clients.get(ISSUER, 'client-1')).not.toBeNull();
  });

  test('does not restore an expired client that is used', async () => {
    await using under = await create();
    const { clients } = under.stores;
    await clients.register(CLIENT, DAY);
    await under.advance(DAY);
    await clients.touch(ISSUER, 'client-1', DAY);
    expect(await clients.get(ISSUER, 'client-1')).toBeNull();
  });
});
