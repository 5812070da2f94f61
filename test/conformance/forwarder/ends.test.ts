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
  testOfHttp1,
} from '../../support/forwarder-wire.ts';

describe('A client that disconnects', () => {
  test.each<[string, string, buffers: boolean]>([
    ['a GET', GET, false],
    ['a POST after its short body', POST, false],
    ['a POST after its chunks', CHUNKED_POST, false],
    ['a POST after its body, which was read already', POST, true],
  ])(
    'the request of a client that disconnects after %s is aborted at the upstream',
    async (_what, bytes, buffers) => {
      await using upstream = await startUpstream(silent);
      await using front = await startFront({ upstream: upstream.origin, buffers });
      await using client = await RawClient.connect(front.port);
      client.send(bytes);
      const { finished, message } = await upstream.request(0);
      if (message.method === 'POST') await once(message, 'end');
      client.socket.destroy();
      expect(await finished).toBe(false);
      expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    },
  );

  test('the event stream of a client that disconnects is aborted at the upstream', async () => {
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

  test('no request of a client that disconnects stays open at the upstream, in twenty of twenty cases', async () => {
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

  test('a request does not wait for its connection to the upstream when the client disconnects', async () => {
    // Accepts connections, and never answers the TLS handshake.
    await using upstream = await startRawUpstream(() => undefined);
    const origin = `https://127.0.0.1:${String(upstream.port)}`;
    await using front = await startFront({ upstream: origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    client.socket.end();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test('a request is not forwarded if the client disconnects before that', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({
      upstream: upstream.origin,
      authorize: (_request, exchange) => {
        return new Promise((resolve) => void exchange.once('close', () => resolve()));
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    client.socket.end();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    expect(upstream.requests).toHaveLength(0);
  });

  test('a request that waits for a connection is not sent after the client disconnects', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({
      upstream: upstream.origin,
      // The client disconnects in this turn of the event loop, and the connection is made after it.
      authorize: ({ path }, exchange) => {
        if (path === '/x') setImmediate(() => exchange.destroy());
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

  test('a request whose client disconnects within its body is aborted at the upstream', async () => {
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

  test('a client that sends a malformed chunk is disconnected without waiting for it', async () => {
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

  test('a request whose client disconnects within a short body does not reach the upstream', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100\r\n\r\nstart');
    client.socket.end();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    expect(upstream.requests).toHaveLength(0);
  });

  test('a long response is aborted at the upstream when the client disconnects', async () => {
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

describe('An upstream that disconnects within its response', () => {
  test.each<[string, string, string]>([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart', 'HTTP/1.1'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n', 'HTTP/1.1'],
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart', 'HTTP/1.0'],
  ])('the connection of the client is closed too: %s', async (_how, bytes, version) => {
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

  testOfHttp1('the connection of the client is reset if its end would end the body', async () => {
    const bytes = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n';
    await using upstream = await startRawUpstream((socket) => socket.write(bytes));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
    await client.receives('part');
    upstream.connections[0]?.resetAndDestroy();
    expect(await client.closed).toBe('reset');
  });

  test('the client gets 502 if the upstream has sent nothing', async () => {
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
