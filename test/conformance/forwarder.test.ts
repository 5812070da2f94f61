import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { ClientGoneError } from '../../proxy/errors/request-errors.ts';
import { ForbiddenError } from '../../proxy/errors/denial-errors.ts';
import { UpstreamUnreachableError } from '../../proxy/errors/upstream-errors.ts';
import { startFront } from '../support/front.ts';
import { headerOf, RawClient, type WireResponse } from '../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../support/upstream.ts';

const MEBIBYTE = 1024 * 1024;

const GET = 'GET /x HTTP/1.1\r\nHost: app.test\r\n\r\n';
const POST = 'POST /x HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n\r\nbody';
const CHUNKED_POST =
  'POST /x HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n';
const HANDSHAKE = [
  'GET /ws HTTP/1.1',
  'Host: app.test',
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
].join('\r\n');

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket';
const SWITCHED = `${SWITCHING}\r\nConnection: Upgrade`;
const DECLINED = 'HTTP/1.1 403 Forbidden';

/** What every plain object has already. */
const PROTOTYPE_NAMES = ['constructor', 'toString', 'hasOwnProperty'];

/** An upstream that takes requests and never answers. */
const silent: RequestListener = (message) => {
  message.resume();
};

const answerOk: RequestListener = (message, response) => {
  message.resume().on('end', () => response.end('ok'));
};

/** `once` would take the error of a reset for its own. */
async function closing(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise((resolve) => socket.once('close', resolve));
}

/** Waits until a growing number has come to a standstill. */
async function standstill(read: () => number): Promise<number> {
  let last = -1;
  for (let same = 0; same < 5; same += 1) {
    await delay(40);
    if (read() !== last) same = 0;
    last = read();
  }
  return last;
}

function valuesOf({ headers }: WireResponse, name: string): string[] {
  return headers.filter(([other]) => other === name).map(([, value]) => value);
}

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

describe('a response', () => {
  test('of events has its head sent before the first event, and each event at once', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await client.receives('\r\n\r\n');
    expect(client.received).toContain('text/event-stream');
    const { response } = await upstream.request(0);
    response.write('data: 1\n\n');
    await client.receives('data: 1');
    response.write('data: 2\n\n');
    await client.receives('data: 2');
    response.end();
    expect((await client.response()).body).toBe('data: 1\n\ndata: 2\n\n');
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('keeps duplicate fields, and their case and order', async () => {
    const fields = [
      'x-lower: 1',
      'X-UPPER: 2',
      'Set-Cookie: a=1; Path=/',
      'set-cookie: b=2',
      'X-Lower: 3',
      'X-Latin: \xe9\xa9',
      'Date: Thu, 01 Jan 1970 00:00:00 GMT',
      'Set-Cookie: c=3',
      'Content-Disposition: attachment; filename="\xc3\xa9.txt"',
      'Content-Length: 2',
    ];
    await using upstream = await startRawUpstream((socket) => {
      socket.write(`HTTP/1.1 200 Fine\r\n${fields.join('\r\n')}\r\n\r\nok`, 'latin1');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const response = await client.response();
    expect(response).toMatchObject({ status: 200, reason: 'Fine', body: 'ok' });
    expect(response.headers.map(([name, value]) => `${name}: ${value}`)).toStrictEqual([
      ...fields,
      'Connection: keep-alive',
      'Keep-Alive: timeout=10',
    ]);
  });

  test('is changed as its overlay says', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'access-control-allow-origin': 'https://evil.test' }).end();
    });
    await using front = await startFront({
      upstream: upstream.origin,
      responseHeaders: {
        remove: new Set(['access-control-allow-origin']),
        add: ['access-control-allow-origin', '*'],
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(valuesOf(await client.response(), 'access-control-allow-origin')).toStrictEqual(['*']);
  });

  test('has its early hints forwarded, and other informational responses not', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' });
      response.writeEarlyHints({ link: '</b.css>; rel=preload; as=style' });
      response.end('ok');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const hints = [await client.response(), await client.response()];
    expect(hints.map(({ status }) => status)).toStrictEqual([103, 103]);
    expect(hints.map((hint) => headerOf(hint, 'link'))).toStrictEqual([
      '</a.css>; rel=preload; as=style',
      '</b.css>; rel=preload; as=style',
    ]);
    expect(await client.response()).toMatchObject({ status: 200, body: 'ok' });
  });

  test('has no cookies in its early hints, where a session would be planted', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeEarlyHints({
        link: '</a.css>; rel=preload; as=style',
        'set-cookie': '__Host-gatehouse=planted; Path=/; Secure',
      });
      response.end('ok');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const hint = await client.response();
    expect(hint).toMatchObject({ status: 103 });
    expect(hint.headers.map(([name]) => name)).toStrictEqual(['Link']);
  });

  test('has no early hints for HTTP/1.0', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' });
      response.end('ok');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
    await client.closed;
    expect(await client.response()).toMatchObject({ status: 200, body: 'ok' });
  });

  test('of 200 MiB that nobody reads stays at the upstream, and is whole when it is read', async () => {
    const size = 200 * MEBIBYTE;
    const chunk = Buffer.alloc(MEBIBYTE, 'x');
    let written = 0;
    const pump = (response: ServerResponse): void => {
      while (written < size) {
        written += chunk.length;
        if (!response.write(chunk)) {
          response.once('drain', () => pump(response));
          return;
        }
      }
      response.end();
    };
    await using upstream = await startUpstream((_message, response) => pump(response));
    await using front = await startFront({ upstream: upstream.origin });
    const client = httpRequest({ port: front.port, host: '127.0.0.1' }).end();
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect(await standstill(() => written)).toBeLessThan(50 * MEBIBYTE);
    let received = 0;
    response.on('data', (part: Buffer) => (received += part.length));
    await once(response, 'end');
    expect(received).toBe(size);
    client.destroy();
  });

  test.each<[string, string, string, Partial<WireResponse>]>([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 123\r\nETag: "a"', '', { status: 200 }],
    ['GET', 'HTTP/1.1 204 No Content', '', { status: 204 }],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 123\r\nETag: "a"', '', { status: 304 }],
    ['GET', 'HTTP/1.1 200 OK\r\nContent-Length: 0', '', { status: 200 }],
    ['GET', 'HTTP/1.1 200 OK\r\nConnection: close', 'until the end', { body: 'until the end' }],
    ['GET', 'HTTP/1.0 200 OK', 'until the end', { body: 'until the end' }],
    ['GET', 'HTTP/1.1 599 Odd\r\nContent-Length: 2', 'no', { status: 599, reason: 'Odd' }],
  ])('to %s keeps its framing: %j', async (method, head, body, expected) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end(`${head}\r\n\r\n${body}`));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${method} / HTTP/1.1\r\nHost: app.test\r\n\r\n`);
    const response = await client.response({ toHead: method === 'HEAD' });
    expect(response).toMatchObject({ body, ...expected });
    const length = /Content-Length: (\d+)/.exec(head)?.[1];
    expect(headerOf(response, 'content-length')).toBe(length);
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('that no HTTP server would send is answered for with 502', async () => {
    await using upstream = await startRawUpstream((socket) => socket.write('SMTP ready\r\n\r\n'));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
  });

  test('in a transfer coding nobody asked for is answered for with 502', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
  });
});

describe('trailers', () => {
  test('of the response are forwarded', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { trailer: 'X-Sum, X-More' });
      response.write('body');
      response.addTrailers([
        ['X-Sum', '1'],
        ['X-More', '2'],
        ['X-More', '3'],
      ]);
      response.end();
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const response = await client.response();
    expect(headerOf(response, 'trailer')).toBe('X-Sum, X-More');
    expect(response.trailers).toStrictEqual([
      ['X-Sum', '1'],
      ['X-More', '2'],
      ['X-More', '3'],
    ]);
  });

  const CHUNKED = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n';

  test('of the request are forwarded', async () => {
    await using upstream = await startUpstream((message, response) => {
      const parts: Buffer[] = [];
      message.on('data', (part: Buffer) => parts.push(part));
      message.on('end', () => {
        response.end(JSON.stringify([parts.join(''), message.rawTrailers, message.rawHeaders]));
      });
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${CHUNKED}Trailer: X-Sum, X-Gateway-Assertion\r\n\r\n4\r\nbody\r\n`);
    await upstream.request(0);
    client.send('0\r\nX-Sum: 1\r\nx-more: 2\r\nX-Gateway-Assertion: forged\r\n\r\n');
    const [body, trailers, headers] = JSON.parse((await client.response()).body) as unknown[];
    expect(body).toBe('body');
    expect(trailers).toStrictEqual(['X-Sum', '1', 'x-more', '2']);
    expect(headers).toEqual(expect.arrayContaining(['Trailer', 'X-Sum']));
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('of a request do not keep its upstream when the client leaves', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${CHUNKED}Trailer: X-Sum\r\n\r\n4\r\nbody\r\n`);
    const { finished } = await upstream.request(0);
    client.socket.destroy();
    expect(await finished).toBe(false);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test.each<[string, string, number]>([
    ['cut in its response', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart', 200],
    ['cut before its response', '', 502],
  ])('of a request: its upstream is %s', async (_how, bytes, status) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end(bytes));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${CHUNKED}Trailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n`);
    await client.receives(`HTTP/1.1 ${String(status)}`);
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test('of a request: 504 when its upstream does not answer in time', async () => {
    await using upstream = await startUpstream(silent);
    const route = { responseTimeoutMs: 50 };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send(`${CHUNKED}Trailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n`);
    expect((await client.response()).status).toBe(504);
  });
});

test('hop-by-hop fields, and those that Connection lists, pass in neither direction', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.once('data', (bytes) => {
      const hop = 'Connection: X-Hop, close\r\nX-Hop: 1\r\nKeep-Alive: timeout=1\r\nUpgrade: h2c';
      const body = bytes.toString('latin1');
      const length = `Content-Length: ${String(body.length)}`;
      socket.end(`HTTP/1.1 200 OK\r\n${hop}\r\nX-End: 1\r\n${length}\r\n\r\n${body}`);
    });
  });
  await using front = await startFront({ upstream: upstream.origin });
  await using client = await RawClient.connect(front.port);
  client.send(
    [
      'GET / HTTP/1.1',
      'Host: app.test',
      'Connection: X-Private, Upgrade, HTTP2-Settings',
      'X-Private: 1',
      'Keep-Alive: timeout=99',
      'TE: trailers, deflate',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic secret',
      'X-Public: 2',
      '\r\n',
    ].join('\r\n'),
  );
  const response = await client.response();
  expect(response.body.split('\r\n')).toStrictEqual([
    'GET / HTTP/1.1',
    `host: 127.0.0.1:${String(upstream.port)}`,
    'connection: keep-alive',
    'X-Public: 2',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Host: app.test',
    'X-Forwarded-Proto: http',
    'X-Request-Id: id-of-request',
    '',
    '',
  ]);
  expect(response.headers.map(([name]) => name)).toStrictEqual([
    ...['X-End', 'Content-Length', 'Date', 'Connection', 'Keep-Alive'],
  ]);
  expect(headerOf(response, 'keep-alive')).toBe('timeout=10');
});

describe('the path', () => {
  test.each([
    ['//x/y', '//x/y'],
    ['/a//b///', '/a//b///'],
    ['/%7Ea/%2F?q=//%2e%2e/../', '/%7Ea/%2F?q=//%2e%2e/../'],
    ['/a%20b;c=d?e?f', '/a%20b;c=d?e?f'],
    ['http://app.test/a?b', '/a?b'],
    ['http://APP.test', '/'],
  ])('%s is what the upstream gets, byte for byte', async (target, received) => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`GET ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
    expect((await client.response()).status).toBe(200);
    expect(upstream.requests[0]?.message.url).toBe(received);
  });

  test.each(['/a/../b', '/%2e%2e', '/..', 'http://evil.test/a', '/a\\b', '/%zz', '/%00', '*'])(
    '%s is refused, and the connection closed',
    async (target) => {
      await using upstream = await startUpstream(answerOk);
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`GET ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
      const response = await client.response();
      expect(response.status).toBe(400);
      expect(headerOf(response, 'connection')).toBe('close');
      expect(await client.closed).toBe('ended');
      expect(upstream.requests).toHaveLength(0);
    },
  );
});

describe('Expect', () => {
  const EXPECTING = 'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n';

  test('100-continue is answered with 100 after authorization only', async () => {
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
    // Whether the body follows cannot be known.
    expect(headerOf(response, 'connection')).toBe('close');
    expect(await client.closed).toBe('ended');
  });

  test.each([true, false])('100-continue asks for the body (buffered: %s)', async (buffers) => {
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
  });

  test('anything else is 417', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${EXPECTING}Expect: a-miracle\r\n\r\nbody`);
    expect((await client.response()).status).toBe(417);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('a final response while the request body is still coming', () => {
  test.each<[string, string]>([
    ['with a length', `Content-Length: ${String(20 * MEBIBYTE)}\r\n\r\n`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${(8 * MEBIBYTE).toString(16)}\r\n`],
    ['with trailers', `Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\n800000\r\n`],
  ])('is forwarded, then the connection is closed in order: %s', async (_how, framing) => {
    await using upstream = await startUpstream((message, response) => {
      message.once('data', () => response.writeHead(413).end('too large'));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`POST / HTTP/1.1\r\nHost: app.test\r\n${framing}`);
    client.send(Buffer.alloc(6 * MEBIBYTE));
    const response = await client.response();
    expect(response).toMatchObject({ status: 413, body: 'too large' });
    expect(headerOf(response, 'connection')).toBe('close');
    expect(await client.closed).toBe('ended');
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('arrives also when the upstream never read any of the body', async () => {
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
    expect(await client.response()).toMatchObject({ status: 413, body: 'too large' });
    expect(await client.closed).toBe('ended');
    // All that the client still had to send is taken from it.
    await closing(client.socket);
    expect(client.socket.errored).toBeNull();
  });

  test('of the gateway itself arrives too', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin, buffers: true });
    await using client = await RawClient.connect(front.port);
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(20 * MEBIBYTE)}\r\n\r\n`);
    client.send(Buffer.alloc(6 * MEBIBYTE));
    const response = await client.response();
    expect(response.status).toBe(413);
    expect(headerOf(response, 'connection')).toBe('close');
    expect(await client.closed).toBe('ended');
  });
});

describe('a request body', () => {
  test('that the upstream does not read stays with the client', async () => {
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
  ])('of %s keeps its framing: %j', async (method, rest, length) => {
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

describe('an upstream connection', () => {
  test('is used again', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    for (const bytes of [GET, POST, GET]) {
      client.send(bytes);
      expect((await client.response()).body).toBe('ok');
    }
    expect(upstream.connections).toHaveLength(1);
  });

  test.each<[string, string, buffers: boolean, status: number]>([
    ['GET', GET, false, 200],
    ['PUT whose body was read already', POST.replace('POST', 'PUT'), true, 200],
    ['PUT with a short body', POST.replace('POST', 'PUT'), false, 200],
    ['PUT with a body that was streamed', CHUNKED_POST.replace('POST', 'PUT'), false, 502],
    ['POST', POST, true, 502],
  ])('that was just closed is not the end of a %s', async (_what, bytes, buffers, status) => {
    const seen: string[] = [];
    await using upstream = await startRawUpstream((socket, index) => {
      let requests = 0;
      socket.on('data', (data) => {
        const [head] = /^[A-Z]+ (?=\/)/.exec(data.toString()) ?? [];
        if (head === undefined) return;
        requests += 1;
        seen.push(`${String(index)}: ${head.trim()}`);
        if (index === 0 && requests === 2) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    await using front = await startFront({ upstream: upstream.origin, buffers });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(200);
    client.send(bytes);
    expect((await client.response()).status).toBe(status);
    const method = bytes.slice(0, bytes.indexOf(' '));
    expect(seen).toStrictEqual([
      '0: GET',
      `0: ${method}`,
      ...(status === 200 ? [`1: ${method}`] : []),
    ]);
  });

  test('that is closed again and again is tried twice, and no more', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.destroy());
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
    expect(upstream.connections).toHaveLength(2);
  });

  test('that cannot be made is 502', async () => {
    const upstream = await startUpstream(answerOk);
    await upstream[Symbol.asyncDispose]();
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    for (const bytes of [GET, POST]) {
      client.send(bytes);
      expect((await client.response()).status).toBe(502);
    }
  });

  test('on which no answer comes in time is 504, and is closed', async () => {
    await using upstream = await startUpstream(silent);
    const route = { responseTimeoutMs: 50 };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(504);
    expect(await (await upstream.request(0)).finished).toBe(false);
  });

  test('is closed once no route leads to it, and not while it is in use', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const { response } = await upstream.request(0);
    const retained = front.pools.retain(new Set());
    response.end('ok');
    expect((await client.response()).body).toBe('ok');
    await retained;
    expect(upstream.connections.map(({ destroyed }) => destroyed)).not.toContain(undefined);
    client.send(GET);
    (await upstream.request(1)).response.end('again');
    expect((await client.response()).body).toBe('again');
    expect(upstream.connections).toHaveLength(2);
  });
});

describe('a WebSocket', () => {
  test('carries messages both ways, on the very path and with the gateway’s fields', async () => {
    await using upstream = await startUpstream(answerOk);
    const echo = new WebSocketServer({ noServer: true });
    upstream.server.on('upgrade', (message, socket, head) => {
      echo.handleUpgrade(message, socket, head, (connection) => {
        connection.on('message', (data: Buffer) => {
          connection.send(JSON.stringify([data.toString(), message.url, message.rawHeaders]));
        });
      });
    });
    await using front = await startFront({
      upstream: upstream.origin,
      added: ['X-Gateway-A', 'b'],
    });
    const socket = new WebSocket(`ws://127.0.0.1:${String(front.port)}//a/%7e?b`, 'proto', {
      headers: { 'X-Gateway-A': 'forged', Cookie: 'a=1; __Host-gatehouse=secret', 'X-Own': '1' },
    });
    await once(socket, 'open');
    expect(socket.protocol).toBe('proto');
    socket.send('hello');
    const [data] = (await once(socket, 'message')) as [Buffer];
    const [text, url, raw] = JSON.parse(data.toString()) as [string, string, string[]];
    expect([text, url]).toStrictEqual(['hello', '//a/%7e?b']);
    expect(raw.join('\n')).toContain('Cookie\na=1');
    expect(raw.join('\n')).toContain('X-Own\n1');
    expect(raw.join('\n')).toContain('X-Gateway-A\nb');
    expect(raw.join('\n')).toContain('X-Forwarded-For\n127.0.0.1');
    expect(raw).not.toContain('forged');
    socket.close();
    expect(await front.outcome(0)).toBeUndefined();
  });

  test.each<[string, (client: RawClient) => unknown]>([
    ['closes', (client) => client.socket.end()],
    ['resets', (client) => client.socket.resetAndDestroy()],
  ])('whose client %s before the 101 leaves nothing at the upstream', async (_how, leave) => {
    await using upstream = await startUpstream(silent);
    const upgraded = once(upstream.server, 'upgrade');
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    const [, socket] = (await upgraded) as [unknown, Socket];
    const ended = once(socket.resume(), 'end');
    leave(client);
    await ended;
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test.each<[string, 'client' | 'upstream']>([
    ['its upstream', 'client'],
    ['its client', 'upstream'],
  ])('that is reset on one side takes %s with it', async (_other, side) => {
    await using upstream = await startUpstream(answerOk);
    const upgraded = once(upstream.server, 'upgrade');
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    const [, socket] = (await upgraded) as [unknown, Socket];
    socket.on('error', () => undefined).resume();
    socket.write(`${SWITCHING}\r\nConnection: Upgrade\r\n\r\nearly`);
    await client.receives('early');
    const closed = once(socket, side === 'client' ? 'end' : 'close');
    if (side === 'client') client.socket.resetAndDestroy();
    else socket.resetAndDestroy();
    await closed;
    // Half a connection is none: whoever goes on writing finds the other side gone.
    const pump = setInterval(() => socket.write('more'), 5);
    await Promise.all([closing(socket), client.closed]).finally(() => clearInterval(pump));
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('that the upstream declines gets the upstream’s answer', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic', 'Set-Cookie': ['a=1', 'b=2'] });
      response.write('in two ');
      response.end('parts');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect(await client.closed).toBe('ended');
    const response = await client.response();
    expect(response).toMatchObject({ status: 401, body: 'in two parts' });
    expect(valuesOf(response, 'Set-Cookie')).toStrictEqual(['a=1', 'b=2']);
    expect(headerOf(response, 'transfer-encoding')).toBeUndefined();
  });

  test('whose upstream cannot be reached gets 502', async () => {
    const upstream = await startUpstream(answerOk);
    await upstream[Symbol.asyncDispose]();
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect((await client.response()).status).toBe(502);
    expect(await client.closed).toBe('ended');
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test('whose upstream gives half an answer gets 502', async () => {
    await using upstream = await startRawUpstream((socket) => socket.write(`${SWITCHING}\r\n\r\n`));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect((await client.response()).status).toBe(502);
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test.each<[string, string]>([
    [
      'a 403 in a transfer coding',
      `${DECLINED}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a 101 with a transfer coding', `${SWITCHED}\r\nTransfer-Encoding: gzip\r\n\r\n`],
  ])('whose upstream answers with %s gets 502, and the process lives on', async (_what, bytes) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.write(bytes));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect((await client.response()).status).toBe(502);
    expect(await client.closed).toBe('ended');
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test.each(PROTOTYPE_NAMES)(
    'keeps a field of its client that is named %s, and is answered',
    async (name) => {
      await using upstream = await startUpstream(answerOk);
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`${HANDSHAKE}\r\n${name}: 1\r\n${name}: 2\r\n\r\n`);
      expect(await client.response()).toMatchObject({ status: 200, body: 'ok' });
      const { rawHeaders } = (await upstream.request(0)).message;
      expect(rawHeaders.join('\n')).toContain(`${name}\n1\n${name}\n2`);
    },
  );

  test.each(PROTOTYPE_NAMES)(
    'keeps a field of its upstream that is named %s, and the process lives on',
    async (name) => {
      await using upstream = await startRawUpstream((socket) => {
        socket.once('data', () => socket.write(`${SWITCHED}\r\n${name}: 1\r\n\r\n`));
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`${HANDSHAKE}\r\n\r\n`);
      await client.receives('\r\n\r\n');
      expect(client.received).toMatch(/^HTTP\/1\.1 101 /);
      expect(client.received).toContain(`\r\n${name}: 1\r\n`);
    },
  );

  test('loses a field that is named __proto__, in both directions, and nothing else', async () => {
    const field = '__proto__: 1\r\n__proto__: 2';
    const heard: string[] = [];
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', (bytes: Buffer) => {
        heard.push(bytes.toString('latin1'));
        socket.write(`${SWITCHED}\r\n${field}\r\nX-Own: 1\r\n\r\n`);
      });
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n${field}\r\nX-Own: 1\r\n\r\n`);
    await client.receives('\r\n\r\n');
    for (const head of [heard.join(''), client.received]) {
      expect(head).toContain('\r\nX-Own: 1\r\n');
      expect(head).not.toContain('__proto__');
    }
  });

  test('whose upstream does not answer in time gets 504', async () => {
    await using upstream = await startRawUpstream(() => undefined);
    const route = { responseTimeoutMs: 50 };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect((await client.response()).status).toBe(504);
  });

  test('never brings a client’s 100-continue before the gateway’s own fields', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\nExpect: 100-continue\r\nX-Gateway-A: forged\r\n\r\n`);
    await client.response();
    expect(upstream.requests[0]?.message.headers).not.toHaveProperty('x-gateway-a');
    expect(upstream.requests[0]?.message.headers).not.toHaveProperty('expect');
  });
});
