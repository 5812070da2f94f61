import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

import { expect, test } from '@jest/globals';

import { readBody } from '../../../../proxy/http/read-body.ts';

// Strangers send bodies byte by byte, each in time for the stall limit, and hold connections.
test('a body that is not whole in time is not waited for', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  try {
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\na');
    // `request` is emitted with the request.
    const [message] = (await once(server, 'request')) as [IncomingMessage];
    const drip = setInterval(() => client.write('b'), 2);
    try {
      await expect(readBody(message, 65536, { deadlineMs: 30 })).rejects.toMatchObject({
        reason: 'body-too-slow',
        status: 408,
      });
    } finally {
      clearInterval(drip);
    }
  } finally {
    client.destroy();
    server.close();
  }
});
