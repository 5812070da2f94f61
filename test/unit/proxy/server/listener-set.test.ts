import { expect, test } from '@jest/globals';

import { ListenerSet } from '../../../../proxy/server/listener-set.ts';
import type { ListenAddress } from '../../../../shared/runtime/listen-address.ts';
import { acceptsConnections } from '../../../support/accepts-connections.ts';
import { freePort } from '../../../support/free-port.ts';

function createSet(): ListenerSet {
  return new ListenerSet({
    request: (_message, response) => response.end(),
    upgrade: (_message, socket) => socket.destroy(),
  });
}

async function freeAddress(): Promise<ListenAddress> {
  return { host: '127.0.0.1', port: await freePort() };
}

test('the last of several changes at once decides where a set listens', async () => {
  const set = createSet();
  const [kept, dropped, added] = [await freeAddress(), await freeAddress(), await freeAddress()];
  await set.listen([kept]);
  const changes = [set.listen([kept, dropped]), set.listen([kept, added])];
  expect(await Promise.all(changes)).toEqual([
    [kept, dropped],
    [kept, added],
  ]);
  expect(await Promise.all([kept, dropped, added].map(acceptsConnections))).toEqual([
    true,
    false,
    true,
  ]);
  await set.close();
});

test('a set that is closed while it opens a port leaves nothing open', async () => {
  const set = createSet();
  const address = await freeAddress();
  await Promise.all([set.listen([address]), set.close()]);
  expect(await acceptsConnections(address)).toBe(false);
});
