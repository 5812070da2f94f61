import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { expect, test } from '@jest/globals';

import type { HandshakeOutcome } from '../../../../../proxy/http/handshake-outcome.ts';
import { Handshakes } from '../../../../../proxy/server/tls/handshakes.ts';
import { aCompiledCertificate } from '../../../../support/compiled-resources.ts';
import { eventually } from '../../../../support/eventually.ts';
import { clientHello } from '../../../../support/tls/client-hello.ts';

const HANDSHAKE_MS = 50;

/** Connects a client that sends these bytes and no more. Resolves with the outcomes once it is cut off. */
async function outcomesOf(bytes: Buffer): Promise<readonly HandshakeOutcome[]> {
  const outcomes: HandshakeOutcome[] = [];
  const certificate = aCompiledCertificate();
  const handshakes = new Handshakes({
    handlers: {
      request: (_message, response) => response.end(),
      upgrade: (_message, socket) => socket.destroy(),
      certificatesFor: () => [certificate],
      handshake: (outcome) => outcomes.push(outcome),
    },
    handshakeMs: HANDSHAKE_MS,
    protocols: ['http/1.1'],
  });
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket);
    handshakes.begin(socket, '127.0.0.1', (secure) => secure.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A TCP server has an address of this type.
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write(bytes);
  await once(client.resume(), 'close');
  await eventually('the server has closed it', () => accepted.every(({ destroyed }) => destroyed));
  server.close();
  await once(server, 'close');
  return outcomes;
}

test.each([
  ['in the middle of its first message', 20],
  ['after its first message', undefined],
])('a client that stops %s is cut off, and counted once as a timeout', async (_when, length) => {
  const hello = await clientHello('app.example.com');
  expect(await outcomesOf(hello.subarray(0, length))).toEqual(['timeout']);
});

test('a client that says nothing is cut off, and not counted: health checks do that', async () => {
  expect(await outcomesOf(Buffer.alloc(0))).toEqual([]);
});
