import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from '@jest/globals';

import { FrontMessage } from '../../../../proxy/server/front-message.ts';
import { FrontResponse } from '../../../../proxy/server/front-response.ts';

// A filter that holds a part back passes nothing on. Sent as a chunk, that would end the body, and the rest
// would be the response to the next request.
test('an empty part does not end a body in chunks', async () => {
  const server = createServer({ IncomingMessage: FrontMessage, ServerResponse: FrontResponse });
  server.on('request', (_message, response) => {
    response.sendHead(200, undefined, ['Content-Type', 'text/plain']);
    for (const part of ['', 'a', '', 'b']) response.sendPart(Buffer.from(part));
    response.endBody([]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    // A TCP server's address is one.
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${String(port)}/`);
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    expect(await response.text()).toBe('ab');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
