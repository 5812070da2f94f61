import { describe, expect, test } from '@jest/globals';

import { ClientGoneError } from '../../../proxy/errors/request-errors.ts';
import { UpstreamUnreachableError } from '../../../proxy/errors/upstream-errors.ts';
import { isOverHttp2, startFront } from '../../support/front.ts';
import { headerOf, RawClient } from '../../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../../support/upstream.ts';
import {
  GET,
  silent,
  answerOk,
  expectLast,
  fieldsOf,
  spelled,
} from '../../support/forwarder-wire.ts';

describe('Trailers', () => {
  test('the trailers of a response are forwarded', async () => {
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
      [spelled('X-Sum'), '1'],
      [spelled('X-More'), '2'],
      [spelled('X-More'), '3'],
    ]);
  });

  const CHUNKED = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n';

  test('the trailers of a request are forwarded', async () => {
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
    expect(trailers).toStrictEqual([spelled('X-Sum'), '1', 'x-more', '2']);
    expect(headers).toEqual(expect.arrayContaining(['Trailer', 'X-Sum']));
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('a request with trailers is aborted at the upstream when the client disconnects', async () => {
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
  ])(
    'a request with trailers whose upstream is %s is answered with the right status',
    async (_how, bytes, status) => {
      await using upstream = await startRawUpstream((socket) => {
        socket.once('data', () => socket.end(bytes));
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`${CHUNKED}Trailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n`);
      await client.receives(`HTTP/1.1 ${String(status)}`);
      expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
    },
  );

  test('a request with trailers is answered with 504 if the upstream does not answer in time', async () => {
    await using upstream = await startUpstream(silent);
    const route = { responseTimeoutMs: 50 };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send(`${CHUNKED}Trailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n`);
    expect((await client.response()).status).toBe(504);
  });
});

test('hop-by-hop fields and those that Connection lists are forwarded in neither direction', async () => {
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
    `${spelled('X-Public')}: 2`,
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Host: app.test',
    'X-Forwarded-Proto: http',
    'X-Request-Id: id-of-request',
    '',
    '',
  ]);
  expect(fieldsOf(response).map(([name]) => name)).toStrictEqual([
    ...['X-End', 'Content-Length', 'Date'].map(spelled),
    ...(isOverHttp2() ? [] : ['Connection', 'Keep-Alive']),
  ]);
  const keepAlive = isOverHttp2() ? undefined : 'timeout=10';
  expect(fieldsOf(response).find(([name]) => name === 'Keep-Alive')?.[1]).toBe(keepAlive);
});

describe('The path', () => {
  test.each([
    ['//x/y', '//x/y'],
    ['/a//b///', '/a//b///'],
    ['/%7Ea/%2F?q=//%2e%2e/../', '/%7Ea/%2F?q=//%2e%2e/../'],
    ['/a%20b;c=d?e?f', '/a%20b;c=d?e?f'],
    ['http://app.test/a?b', '/a?b'],
    ['http://APP.test', '/'],
  ])('the path %s is forwarded byte for byte', async (target, received) => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`GET ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
    expect((await client.response()).status).toBe(200);
    expect(upstream.requests[0]?.message.url).toBe(received);
  });

  test.each(['/a/../b', '/%2e%2e', '/..', 'http://evil.test/a', '/a\\b', '/%zz', '/%00', '*'])(
    'the path %s is refused, and the connection is closed',
    async (target) => {
      await using upstream = await startUpstream(answerOk);
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`GET ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
      const response = await client.response();
      expect(response.status).toBe(400);
      await expectLast(client, response);
      expect(upstream.requests).toHaveLength(0);
    },
  );
});
