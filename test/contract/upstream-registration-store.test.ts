import { describe, expect, test } from '@jest/globals';

import { AN_UPSTREAM_REGISTRATION, aRegistrationKey } from './redis-records.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;
const KEY = aRegistrationKey('https://as.example.com');

describe.each(STORE_IMPLEMENTATIONS)('upstream registration store in $name', ({ create }) => {
  test('returns a registration at its issuer and callback only', async () => {
    await using under = await create();
    const { upstreamRegistrations } = under.stores;
    await upstreamRegistrations.save(KEY, AN_UPSTREAM_REGISTRATION, DAY);
    expect(await upstreamRegistrations.get({ ...KEY })).toEqual(AN_UPSTREAM_REGISTRATION);
    const elsewhere = { ...KEY, redirectUri: 'https://other.example.com/callback' };
    expect(await upstreamRegistrations.get(elsewhere)).toBeNull();
    expect(await upstreamRegistrations.get(aRegistrationKey('https://as2.example.com'))).toBeNull();
  });

  test('keeps the first of fifty registrations, and gives it to all', async () => {
    await using under = await create();
    const { upstreamRegistrations } = under.stores;
    const kept = await fiftyAtOnce((index) => {
      const registration = { ...AN_UPSTREAM_REGISTRATION, clientId: `client-${String(index)}` };
      return upstreamRegistrations.save(KEY, registration, DAY);
    });
    expect(new Set(kept.map(({ clientId }) => clientId)).size).toBe(1);
    expect(await upstreamRegistrations.get(KEY)).toEqual(kept[0]);
  });

  test('forgets a registration that is not used', async () => {
    await using under = await create();
    const { upstreamRegistrations } = under.stores;
    await upstreamRegistrations.save(KEY, AN_UPSTREAM_REGISTRATION, DAY);
    await upstreamRegistrations.extend(KEY, 2 * DAY);
    await upstreamRegistrations.extend(KEY, DAY);
    await under.advance(2 * DAY - MOMENT_SECONDS);
    expect(await upstreamRegistrations.get(KEY)).toEqual(AN_UPSTREAM_REGISTRATION);
    await under.advance(MOMENT_SECONDS);
    await upstreamRegistrations.extend(KEY, DAY);
    expect(await upstreamRegistrations.get(KEY)).toBeNull();
  });

  // The server forgot a client: several proxies notice it, and one may have registered again.
  test('deletes the registration of one client, and not the next one', async () => {
    await using under = await create();
    const { upstreamRegistrations } = under.stores;
    const next = { ...AN_UPSTREAM_REGISTRATION, clientId: 'the-next-client' };
    await upstreamRegistrations.save(KEY, AN_UPSTREAM_REGISTRATION, DAY);
    await upstreamRegistrations.delete(KEY, AN_UPSTREAM_REGISTRATION.clientId);
    expect(await upstreamRegistrations.get(KEY)).toBeNull();
    await upstreamRegistrations.save(KEY, next, DAY);
    await upstreamRegistrations.delete(KEY, AN_UPSTREAM_REGISTRATION.clientId);
    expect(await upstreamRegistrations.get(KEY)).toEqual(next);
  });
});
