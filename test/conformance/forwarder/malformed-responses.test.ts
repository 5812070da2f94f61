import type { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import {
  UpstreamUnreachableError,
  WebSocketDeclinedError,
} from '../../../proxy/errors/upstream-errors.ts';
import { isOverHttp2, startFront } from '../../support/front.ts';
import { GET } from '../../support/forwarder-wire.ts';
import { RawClient } from '../../support/raw-http.ts';
import { startRawUpstream } from '../../support/upstream.ts';

const HANDSHAKE =
  'GET /ws HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** A request that goes another way to the upstream, since it has trailers. */
const WITH_TRAILERS = [
  'POST /x HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n',
  '1\r\na\r\n0\r\nX-A: 1\r\n\r\n',
].join('\r\n');

const REQUESTS: readonly (readonly [string, string])[] = [
  ['a request', GET],
  ['a request with trailers', WITH_TRAILERS],
  ['a handshake', HANDSHAKE],
];

const NO_FINAL_STATUS = [
  ...['000', '001', '020', '099', '101', '600', '601', '700', '999'],
  ...['0', '20', '2000', '-20', '+200', '2x0', '0x1', '2e2', ' 200', 'OK'],
];

/** What may follow the status line of a response. */
const RESTS = [
  'Content-Length: 2\r\n\r\nhi',
  'Transfer-Encoding: chunked\r\nTrailer: X-B\r\n\r\n2\r\nhi\r\n0\r\nX-B: 1\r\n\r\n',
  '\r\n',
];

describe('A response with a status that is no final one', () => {
  for (const [kind, request] of REQUESTS) {
    test.each(NO_FINAL_STATUS)(
      `of %j to ${kind} becomes 502, with trailers too`,
      async (status) => {
        for (const rest of RESTS) {
          await using upstream = await startRawUpstream((socket) => {
            socket.once('data', () => socket.end(`HTTP/1.1 ${status} X\r\n${rest}`));
          });
          await using front = await startFront({ upstream: upstream.origin });
          await using client = await RawClient.connect(front.port);
          client.send(request);
          expect((await client.response()).status).toBe(502);
          expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
        }
      },
    );
  }

  test.each(REQUESTS)('that is the highest possible one reaches %s', async (_kind, request) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 599 X\r\nContent-Length: 2\r\n\r\nhi'));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(request);
    expect(await client.response()).toMatchObject({ status: 599, body: 'hi' });
  });

  test('that switches protocols, which was not asked for, becomes 502', async () => {
    for (const request of [GET, WITH_TRAILERS]) {
      await using upstream = await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhi');
        });
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(request);
      expect((await client.response()).status).toBe(502);
    }
  });
});

// WebSockets use HTTP/1.1.
const describeOfHttp1 = isOverHttp2() ? describe.skip : describe;

describeOfHttp1('A WebSocket that the upstream declines', () => {
  const CHUNKED = 'HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n';
  const COUNTED = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nfirst';
  const UNCOUNTED = 'HTTP/1.1 403 Forbidden\r\n\r\nfirst';

  test.each<[string, string, (socket: Socket) => unknown]>([
    ['the next chunk is malformed', CHUNKED, (socket) => socket.write('xyz\r\n')],
    ['a chunk is followed by too much', CHUNKED, (socket) => socket.write('1\r\nabc\r\n')],
    ['the connection is reset in a chunked body', CHUNKED, (socket) => socket.resetAndDestroy()],
    ['the connection ends in a chunked body', CHUNKED, (socket) => socket.end()],
    ['the connection is reset in a counted body', COUNTED, (socket) => socket.resetAndDestroy()],
    ['the connection ends in a counted body', COUNTED, (socket) => socket.end()],
    ['the connection is reset in an endless body', UNCOUNTED, (socket) => socket.resetAndDestroy()],
  ])('gets one answer, which is cut off, if %s', async (_what, begin, fail) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.write(begin));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(HANDSHAKE);
    await client.receives('first');
    const [socket] = upstream.connections;
    if (socket === undefined) throw new Error('the upstream has no connection');
    fail(socket);
    const ending = await client.closed;
    expect(client.received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(client.received).toMatch(/firsta?$/);
    // A body without a length looks whole after an orderly close.
    expect(begin === COUNTED ? ['ended', 'reset'] : ['reset']).toContain(ending);
    expect(await front.outcome(0)).toBeInstanceOf(WebSocketDeclinedError);
  });
});
