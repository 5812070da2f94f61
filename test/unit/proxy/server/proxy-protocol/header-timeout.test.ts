import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

import { expect, test } from '@jest/globals';

import { Acceptor } from '../../../../../proxy/server/acceptor.ts';
import { eventually } from '../../../../support/eventually.ts';

const BALANCER = '127.0.0.1';
const HEADER_MS = 50;

/** Connects a trusted proxy that sends this and no more. Resolves with how it was cut off. */
async function cutOff(bytes: string): Promise<{ wasReset: boolean; refused: readonly string[] }> {
  const refused: string[] = [];
  const acceptor = new Acceptor({
    handlers: {
      request: (_message, response) => response.end(),
      upgrade: (_message, socket) => socket.destroy(),
      isTrustedProxy: () => true,
      refusedProxyHeader: (address) => refused.push(address),
    },
    headerMs: HEADER_MS,
    serve: () => {
      throw new Error('the header is not complete');
    },
  });
  const server = createServer({ allowHalfOpen: true }, acceptor.accept);
  await once(server.listen(0, BALANCER), 'listening');
  // A TCP server has an address of this type.
  const client = connect((server.address() as AddressInfo).port, BALANCER);
  let wasReset = false;
  client.on('error', () => (wasReset = true));
  client.write(bytes);
  client.resume();
  await new Promise((resolve) => void client.once('close', resolve));
  server.close();
  await once(server, 'close');
  await eventually('the connection is forgotten', () => acceptor.size === 0);
  return { wasReset, refused };
}

test.each(['PROXY TCP4 203.0.113.9', '\r\n\r\n\0\r\nQUIT\n'])(
  'a header that stays incomplete (%j) resets the connection, and counts as malformed',
  async (beginning) => {
    expect(await cutOff(beginning)).toEqual({ wasReset: true, refused: [BALANCER] });
  },
);

test('a connection that a trusted proxy holds in reserve is closed, and not counted', async () => {
  expect(await cutOff('')).toEqual({ wasReset: false, refused: [] });
});
