import { describe, expect, test } from '@jest/globals';

import { ForbiddenError } from '../../../proxy/errors/denial-errors.ts';
import { isOverHttp2, startFront } from '../../support/front.ts';
import { RawClient } from '../../support/raw-http.ts';
import { startUpstream } from '../../support/upstream.ts';
import {
  GET,
  answerOk,
  MEBIBYTE,
  standstill,
  closing,
  expectLast,
} from '../../support/forwarder-wire.ts';

describe('The Expect header', () => {
  const EXPECTING = 'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n';

  test('a request with 100-continue gets 100 only after it was authorized', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({
      upstream: upstream.origin,
      authorize: () => {
        throw new ForbiddenError('no');
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(`${EXPECTING}Expect: 100-continue\r\n\r\n`);
    const response = await client.response();
    expect(response.status).toBe(403);
    // The client may or may not send the body.
    await expectLast(client, response);
  });

  test.each([true, false])(
    'a request with 100-continue is asked for its body (buffered: %s)',
    async (buffers) => {
      await using upstream = await startUpstream(answerOk);
      await using front = await startFront({ upstream: upstream.origin, buffers });
      await using client = await RawClient.connect(front.port);
      client.send(`${EXPECTING}Expect: 100-continue\r\n\r\n`);
      expect((await client.response()).status).toBe(100);
      client.send('body');
      expect((await client.response()).status).toBe(200);
      expect(upstream.requests[0]?.message.headers.expect).toBeUndefined();
      client.send(GET);
      expect((await client.response()).status).toBe(200);
    },
  );

  test('a request with another expectation is answered with 417', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${EXPECTING}Expect: a-miracle\r\n\r\nbody`);
    const response = await client.response();
    expect(response.status).toBe(417);
    // The body was not asked for, and what follows may be the body or another request.
    await expectLast(client, response);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('A final response while the request body is still arriving', () => {
  test.each<[string, string]>([
    ['with a length', `Content-Length: ${String(20 * MEBIBYTE)}\r\n\r\n`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${(8 * MEBIBYTE).toString(16)}\r\n`],
    ['with trailers', `Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\n800000\r\n`],
  ])(
    'an early response is forwarded, and the connection is closed in order: %s',
    async (_how, framing) => {
      await using upstream = await startUpstream((message, response) => {
        message.once('data', () => response.writeHead(413).end('too large'));
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`POST / HTTP/1.1\r\nHost: app.test\r\n${framing}`);
      client.send(Buffer.alloc(6 * MEBIBYTE));
      const response = await client.response();
      expect(response).toMatchObject({ status: 413, body: 'too large' });
      await expectLast(client, response);
      expect(await front.outcome(0)).toBeUndefined();
    },
  );

  test('an early response is forwarded if the upstream reads none of the body', async () => {
    await using upstream = await startUpstream((message) => message.pause());
    await using front = await startFront({
      upstream: upstream.origin,
      limits: { lingerMs: 10_000 },
    });
    await using client = await RawClient.connect(front.port);
    const size = 60 * MEBIBYTE;
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(size)}\r\n\r\n`);
    for (let sent = 0; sent < size; sent += MEBIBYTE) client.send(Buffer.alloc(MEBIBYTE));
    await standstill(() => client.socket.writableLength);
    const { response } = await upstream.request(0);
    response.writeHead(413).end('too large');
    const early = await client.response();
    expect(early).toMatchObject({ status: 413, body: 'too large' });
    await expectLast(client, early);
    if (isOverHttp2()) return;
    // The gateway reads the rest of the client's body.
    await closing(client.socket);
    expect(client.socket.errored).toBeNull();
  });

  test('an early response of the gateway itself reaches the client', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin, buffers: true });
    await using client = await RawClient.connect(front.port);
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(20 * MEBIBYTE)}\r\n\r\n`);
    client.send(Buffer.alloc(6 * MEBIBYTE));
    const response = await client.response();
    expect(response.status).toBe(413);
    await expectLast(client, response);
  });
});

describe('A request body', () => {
  test('a body that the upstream does not read stays with the client', async () => {
    await using upstream = await startUpstream((message) => message.pause());
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    const size = 100 * MEBIBYTE;
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(size)}\r\n\r\n`);
    for (let sent = 0; sent < size; sent += MEBIBYTE) client.send(Buffer.alloc(MEBIBYTE));
    const taken = await standstill(() => size - client.socket.writableLength);
    expect(taken).toBeLessThan(50 * MEBIBYTE);
    const { message, response } = await upstream.request(0);
    message.resume().on('end', () => response.end('ok'));
    expect(await client.response()).toMatchObject({ status: 200, body: 'ok' });
  });

  test.each<[string, string, string | undefined]>([
    ['POST', 'Content-Length: 4\r\n\r\nbody', '4'],
    ['POST', 'Content-Length: 0\r\n\r\n', '0'],
    ['POST', '\r\n', '0'],
    ['POST', 'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n', undefined],
    ['GET', 'Content-Length: 4\r\n\r\nbody', '4'],
    ['DELETE', 'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n', undefined],
    ['DELETE', '\r\n', undefined],
  ])('a body of %s keeps its framing: %j', async (method, rest, length) => {
    await using upstream = await startUpstream((message, response) => {
      let body = '';
      message.on('data', (part: Buffer) => (body += part.toString()));
      message.on('end', () => response.end(body));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${method} / HTTP/1.1\r\nHost: app.test\r\n${rest}`);
    expect((await client.response()).body).toBe(rest.includes('body') ? 'body' : '');
    expect(upstream.requests[0]?.message.headers['content-length']).toBe(length);
  });
});
