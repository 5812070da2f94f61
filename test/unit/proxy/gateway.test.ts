import { describe, expect, test } from '@jest/globals';

import { startGateway } from '../../support/gateway.ts';
import { RawClient } from '../../support/raw-http.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n';
const HANDSHAKE = `${GET}Connection: Upgrade\r\nUpgrade: websocket\r\n`;

describe('A request whose own answer to a failure fails', () => {
  test.each([
    ['a request', `${GET}\r\n`],
    ['a handshake', `${HANDSHAKE}\r\n`],
  ])('is logged and loses its connection, and the process lives on: %s', async (_what, bytes) => {
    // Without a configuration nothing can be served, not even an error.
    await using gateway = await startGateway();
    await using client = await RawClient.connect(gateway.port);
    client.send(bytes);
    await client.closed;
    expect(client.received).toBe('');
    expect(gateway.logs()).toEqual([
      expect.objectContaining({
        level: 'error',
        message: 'request failed unexpectedly',
        error: 'Error: there is no configuration yet',
      }),
    ]);
  });
});
