import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { readForm } from '../../../../proxy/http/read-form.ts';
import { FrontMessage } from '../../../../proxy/server/front-message.ts';

/** Reads a form as the gateway's server gets it. */
async function read(text: string): Promise<URLSearchParams> {
  const server = createServer({ IncomingMessage: FrontMessage }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const client = request({ host: '127.0.0.1', port, method: 'POST', headers });
  client.on('error', () => undefined);
  try {
    client.end(text);
    // `request` is emitted with the request.
    const [message] = (await once(server, 'request')) as [FrontMessage];
    return await readForm(message);
  } finally {
    client.destroy();
    server.close();
  }
}

describe('A form', () => {
  test('of 256 parameters is read', async () => {
    const form = await read('resource=a&'.repeat(255) + 'last=b%26c');

    expect([form.size, form.get('last')]).toEqual([256, 'b&c']);
  });

  // To list 6,000 parameters cost as much as twenty ordinary requests.
  test.each(['resource=a&', '&', '%41=%41&'])(
    'of thousands of parameters %p is refused',
    async (part) => {
      await expect(read(part.repeat(2_000))).rejects.toMatchObject({
        reason: 'too-many-parameters',
        status: 400,
      });
    },
  );
});
