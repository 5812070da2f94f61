import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { ClientGoneError } from '../../../../proxy/errors/request-errors.ts';
import { awaitContinue } from '../../../../proxy/http/expect-continue.ts';
import { readBody } from '../../../../proxy/http/read-body.ts';
import { FrontMessage } from '../../../../proxy/server/front-message.ts';
import { eventually } from '../../../support/eventually.ts';

const LENGTH = 'Content-Length: 60000\r\n\r\n';

/** Runs with a request of a client that has sent a head that ends so, and perhaps the first bytes of the body. */
async function withBegunRequest(
  Message: typeof IncomingMessage,
  run: (message: IncomingMessage, client: Socket) => Promise<void>,
  begun = `${LENGTH}a`,
): Promise<void> {
  const server = createServer({ IncomingMessage: Message }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  try {
    client.write(`POST / HTTP/1.1\r\nHost: a\r\n${begun}`);
    // `request` is emitted with the request.
    const [message] = (await once(server, 'request')) as [IncomingMessage];
    await run(message, client);
  } finally {
    client.destroy();
    server.close();
  }
}

// Messages of the gateway's own server have a way around the events of a stream.
describe.each([
  ['of the gateway', FrontMessage],
  ["of Node's server", IncomingMessage],
])('In a message %s,', (_whose, Message) => {
  // Strangers send bodies byte by byte, each in time for the stall limit, and hold connections.
  test('a body that is not complete within the deadline is refused', async () => {
    await withBegunRequest(Message, async (message, client) => {
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
    await withBegunRequest(Message, async (message, client) => {
      const closed = new Promise((resolve) => message.on('close', resolve));
      client.destroy();
      await closed;
      await expect(readBody(message, 65536, { deadlineMs: 100 })).rejects.toThrow(ClientGoneError);
    });
  });

  test('a body is refused as soon as its client leaves', async () => {
    await withBegunRequest(Message, async (message, client) => {
      const read = readBody(message, 65536, { deadlineMs: 4_000 });
      client.destroy();
      await expect(read).rejects.toThrow(ClientGoneError);
    });
  });

  test.each([
    ['is asked for a body that is read', 65536, 1],
    ['is not asked for a body that is too long', 100, 0],
  ])('a client that waits for 100 Continue %s', async (_what, limit, asked) => {
    await withBegunRequest(
      Message,
      async (message, client) => {
        let count = 0;
        awaitContinue(message, () => (count += 1));
        const read = readBody(message, limit, { deadlineMs: 1_000 });
        client.destroy();
        await expect(read).rejects.toThrow();
        expect(count).toBe(asked);
      },
      `Expect: 100-continue\r\n${LENGTH}`,
    );
  });

  test.each([
    ['at once', () => Promise.resolve()],
    [
      'when a part of it was waiting',
      (message: IncomingMessage) => eventually('it waits', () => message.readableLength > 0),
    ],
    [
      'when all of it was waiting',
      (message: IncomingMessage) => eventually('it is whole', () => message.complete),
    ],
  ])('a body that is read %s is whole', async (_when, wait) => {
    await withBegunRequest(Message, async (message, client) => {
      const parts = ['b'.repeat(30_000), 'c'.repeat(29_999)];
      const sending = (async () => {
        for (const part of parts) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          client.write(part);
        }
      })();
      await wait(message);
      const bytes = await readBody(message, 60_000);
      await sending;
      expect(bytes.toString()).toBe(`a${parts.join('')}`);
      // Node keeps a request whose body has not ended in memory until the next one of its connection.
      expect(message.readableEnded).toBe(true);
    });
  });

  test('a body that grows too long is refused, and the rest of it is discarded', async () => {
    await withBegunRequest(
      Message,
      async (message, client) => {
        const read = readBody(message, 30_000);
        client.write(`EA60\r\n${'b'.repeat(60_000)}\r\n0\r\n\r\n`);
        await expect(read).rejects.toMatchObject({ status: 413 });
        await eventually('all is received', () => message.complete);
        expect(message.readableLength).toBe(0);
      },
      'Transfer-Encoding: chunked\r\n\r\n',
    );
  });
});
