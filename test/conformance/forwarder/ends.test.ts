import { once } from 'node:events';
import { connect } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { ClientGoneError } from '../../../proxy/errors/request-errors.ts';
import { UpstreamUnreachableError } from '../../../proxy/errors/upstream-errors.ts';
import { startFront } from '../../support/front.ts';
import { RawClient } from '../../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../../support/upstream.ts';
import {
  GET,
  POST,
  CHUNKED_POST,
  silent,
  answerOk,
  MEBIBYTE,
} from '../../support/forwarder-wire.ts';

describe('a client that leaves', () => {
  test.each<[string, string, buffers: boolean]>([
    ['a GET', GET, false],
    ['a POST after its short body', POST, false],
    ['a POST after its chunks', CHUNKED_POST, false],
    ['a POST after its body, which was read already', POST, true],
  ])('takes %s with it while the upstream works', async (_what, bytes, buffers) => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin, buffers });
    await using client = await RawClient.connect(front.port);
    client.send(bytes);
    const { finished, message } = await upstream.request(0);
    if (message.method === 'POST') await once(message, 'end');
    client.socket.destroy();
    expect(await finished).toBe(false);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test('takes its event stream with it', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await client.receives('data: 1');
    client.socket.destroy();
    expect(await (await upstream.request(0)).finished).toBe(false);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test('leaves nothing behind at the upstream, twenty times of twenty', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin });
    for (let index = 0; index < 20; index += 1) {
      await using client = await RawClient.connect(front.port);
      client.send(index % 2 === 0 ? GET : POST);
      const { finished } = await upstream.request(index);
      client.socket.destroy();
      expect(await finished).toBe(false);
    }
    expect(upstream.requests).toHaveLength(20);
  });

  test('is not waited for while the connection to the upstream is still being made', async () => {
    // Takes connections, and never answers the TLS handshake.
    await using upstream = await startRawUpstream(() => undefined);
    const origin = `https://127.0.0.1:${String(upstream.port)}`;
    await using front = await startFront({ upstream: origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    client.socket.end();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test('before its request is forwarded never gets as far as the upstream', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({
      upstream: upstream.origin,
      authorize: async (_request, connection) => {
        await once(connection, 'close');
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    client.socket.end();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    expect(upstream.requests).toHaveLength(0);
  });

  test('while its request waits for a connection keeps it from being sent', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({
      upstream: upstream.origin,
      // The connection is made after this turn; the client has left in it.
      authorize: ({ path }, connection) => {
        if (path === '/x') setImmediate(() => connection.destroy());
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    await using next = await RawClient.connect(front.port);
    next.send(GET.replace('/x', '/y'));
    expect((await next.response()).body).toBe('ok');
    expect(upstream.requests.map(({ message }) => message.url)).toStrictEqual(['/y']);
  });

  test('in the middle of its body ends the request at the upstream, and not the process', async () => {
    await using upstream = await startUpstream((message, response) => {
      if (message.method === 'GET') response.end('ok');
      message.resume();
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(
      `POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${String(MEBIBYTE)}\r\n\r\nstart`,
    );
    const { finished, message } = await upstream.request(0);
    client.socket.resetAndDestroy();
    expect(await finished).toBe(false);
    expect(message.complete).toBe(false);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);

    await using next = await RawClient.connect(front.port);
    next.send(GET);
    expect(await next.response()).toMatchObject({ status: 200, body: 'ok' });
  });

  test('that breaks its own chunks is not waited for to leave', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({
      upstream: upstream.origin,
      limits: { lingerMs: 60_000 },
    });
    const client = connect({ port: front.port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    client.on('error', () => undefined);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n');
    const { finished } = await upstream.request(0);
    client.write('zz\r\n');
    expect(await finished).toBe(false);
    client.destroy();
  });

  test('in the middle of a short body never gets as far as the upstream', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100\r\n\r\nstart');
    client.socket.end();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    expect(upstream.requests).toHaveLength(0);
  });

  test('before all of a long response has left ends it at the upstream', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.write(Buffer.alloc(50 * MEBIBYTE));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.socket.pause();
    client.send(GET);
    const { finished } = await upstream.request(0);
    client.socket.destroy();
    expect(await finished).toBe(false);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });
});

describe('an upstream that is cut in the middle of its response', () => {
  test.each<[string, string, string]>([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart', 'HTTP/1.1'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n', 'HTTP/1.1'],
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart', 'HTTP/1.0'],
  ])('cuts the client’s too: %s', async (_how, bytes, version) => {
    await using upstream = await startRawUpstream((socket) => socket.write(bytes));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`GET / ${version}\r\nHost: app.test\r\nConnection: keep-alive\r\n\r\n`);
    await client.receives('part');
    upstream.connections[0]?.destroy();
    await client.closed;
    await expect(client.response()).rejects.toThrow('the connection was');
    expect(client.received).not.toContain('\r\n0\r\n');
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test('resets a client for whom the end of the connection is the end of the body', async () => {
    const bytes = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n';
    await using upstream = await startRawUpstream((socket) => socket.write(bytes));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
    await client.receives('part');
    upstream.connections[0]?.resetAndDestroy();
    expect(await client.closed).toBe('reset');
  });

  test('and had sent nothing yet is answered for with 502', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Le'));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
    expect(upstream.connections).toHaveLength(1);
  });
});
