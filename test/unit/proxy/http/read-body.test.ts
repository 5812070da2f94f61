import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { expect, test } from '@jest/globals';

import { ClientGoneError } from '../../../../proxy/errors/request-errors.ts';
import { awaitContinue } from '../../../../proxy/http/expect-continue.ts';
import { readBody } from '../../../../proxy/http/read-body.ts';

/** Runs with a request of a client that has begun to send its body. */
async function withBegunRequest(
  run: (message: IncomingMessage, client: Socket) => Promise<void>,
): Promise<void> {
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
    await run(message, client);
  } finally {
    client.destroy();
    server.close();
  }
}

// Strangers send bodies byte by byte, each in time for the stall limit, and hold connections.
test('a body that is not complete within the deadline is refused', async () => {
  await withBegunRequest(async (message, client) => {
    const drip = setInterval(() => client.write('b'), 2);
    try {
      await expect(readBody(message, 65536, { deadlineMs: 30 })).rejects.toMatchObject({
        reason: 'body-too-slow',
        status: 408,
      });
    } finally {
      clearInterval(drip);
    }
  });
});

// Strangers leave while they are authenticated, and would occupy memory until the deadline.
test('the body of a client that has left is refused', async () => {
  await withBegunRequest(async (message, client) => {
    const closed = new Promise((resolve) => message.on('close', resolve));
    client.destroy();
    await closed;
    await expect(readBody(message, 65536, { deadlineMs: 100 })).rejects.toThrow(ClientGoneError);
  });
});

test.each([
  ['is asked for a body that is read', 65536, 1],
  ['is not asked for a body that is too long', 100, 0],
])('a client that waits for 100 Continue %s', async (_what, limit, asked) => {
  await withBegunRequest(async (message, client) => {
    let count = 0;
    message.headers.expect = '100-continue';
    awaitContinue(message, () => (count += 1));
    const read = readBody(message, limit, { deadlineMs: 1_000 });
    client.destroy();
    await expect(read).rejects.toThrow();
    expect(count).toBe(asked);
  });
});
