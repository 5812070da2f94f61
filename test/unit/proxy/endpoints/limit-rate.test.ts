import { expect, test } from '@jest/globals';

import { limitNetwork } from '../../../../proxy/endpoints/limit-rate.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';

const RATE = { limit: 5, windowSeconds: 60 };

/** Sends requests from these addresses; returns how many of them are within the limit. */
async function countAllowed(addresses: readonly string[]): Promise<number> {
  const { rateLimits } = createMemoryStores(() => 0);
  let allowed = 0;
  for (const remoteAddress of addresses) {
    const request = limitNetwork(rateLimits, 'test', { remoteAddress }, RATE);
    await request.then(
      () => (allowed += 1),
      () => undefined,
    );
  }
  return allowed;
}

function addresses(count: number, address: (index: string) => string): readonly string[] {
  return Array.from({ length: count }, (_, index) => address((index + 1).toString(16)));
}

test('every address of a /64 counts as one network', async () => {
  expect(await countAllowed(addresses(100, (host) => `2001:db8:1:2::${host}`))).toBe(5);
});

// Attack: a customer with a /48 has 65,536 networks.
test('a /48 may do four times as much as one network, however many networks it has', async () => {
  expect(await countAllowed(addresses(100, (network) => `2001:db8:1:${network}::1`))).toBe(20);
});

test('what a network is refused does not count for its neighbours', async () => {
  const refused = addresses(100, (host) => `2001:db8:1:2::${host}`);
  const neighbours = addresses(15, (host) => `2001:db8:1:${host === '2' ? 'ffff' : host}::1`);
  expect(await countAllowed([...refused, ...neighbours])).toBe(5 + 15);
});

test('IPv4 addresses count one by one', async () => {
  expect(await countAllowed(addresses(10, () => '203.0.113.7'))).toBe(5);
  expect(
    await countAllowed(addresses(10, (host) => `203.0.113.${String(parseInt(host, 16))}`)),
  ).toBe(10);
});
