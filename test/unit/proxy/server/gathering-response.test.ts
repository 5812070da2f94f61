import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';

import { expect, test } from '@jest/globals';

import { FrontMessage } from '../../../../proxy/server/front-message.ts';
import { GatheringResponse } from '../../../../proxy/server/gathering-response.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';

const LONG = Buffer.alloc(20_000, 'a');
const SHORT = Buffer.alloc(5_000, 'b');

test('a response reports room when short parts have left behind a long one', async () => {
  const authority = createThrowawayAuthority();
  const reported: unknown[] = [];
  // TLS sockets never take a part at once, which plain ones do in most cases.
  const server = createServer(
    {
      ...authority.issue(['localhost']),
      IncomingMessage: FrontMessage,
      ServerResponse: GatheringResponse,
    },
    (_request, response) => {
      response.sendHead(200, 'OK', []);
      reported.push(response.sendPart(LONG));
      response.sendPart(SHORT);
      response.once('drain', () => {
        reported.push('drain');
        response.endBody([]);
      });
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  const request = httpsRequest({ host: 'localhost', port, ca: authority.ca, agent: false });
  const [message] = (await once(request.end(), 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length < LONG.length + SHORT.length) continue;
    // All has arrived; the rest is up to the server.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  }
  server.close();
  expect(reported).toEqual([false, 'drain']);
  expect(Buffer.concat(parts).equals(Buffer.concat([LONG, SHORT]))).toBe(true);
});
