import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';

import { describe, expect, test } from '@jest/globals';

import { isOverHttp2, startFront } from '../../support/front.ts';
import { headerOf, RawClient, type WireResponse } from '../../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../../support/upstream.ts';
import {
  fieldsOf,
  GET,
  MEBIBYTE,
  spelled,
  standstill,
  testOfHttp1,
  valuesOf,
} from '../../support/forwarder-wire.ts';

describe('A response', () => {
  test('the head of an event stream is forwarded before the first event, and each event at once', async () => {
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

  test('a response keeps duplicate fields, and the case and order of fields', async () => {
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
    expect(response).toMatchObject({ status: 200, body: 'ok' });
    expect(response.reason).toBe(isOverHttp2() ? 'OK' : 'Fine');
    expect(fieldsOf(response).map(([name, value]) => `${name}: ${value}`)).toStrictEqual([
      ...fields.map((field) => field.replace(/^[^:]+/, spelled)),
      ...(isOverHttp2() ? [] : ['Connection: keep-alive', 'Keep-Alive: timeout=10']),
    ]);
  });

  test('a response is changed as its overlay says', async () => {
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

  test('early hints are forwarded, and other informational responses are not', async () => {
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

  test('early hints are forwarded without cookies, which could plant a session', async () => {
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
    expect(hint.headers.map(([name]) => name)).toStrictEqual([spelled('Link')]);
  });

  testOfHttp1('early hints are not forwarded to a client of HTTP/1.0', async () => {
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

  test('a response of 200 MiB that the client does not read stays at the upstream, and arrives whole later', async () => {
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
    ['GET', 'HTTP/1.1 599 Odd\r\nContent-Length: 2', 'no', { status: 599 }],
  ])('a response to %s keeps its framing: %j', async (method, head, body, expected) => {
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

  test('a response that is not HTTP is replaced by 502', async () => {
    await using upstream = await startRawUpstream((socket) => socket.write('SMTP ready\r\n\r\n'));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
  });

  test('a response in a transfer coding that was not requested is replaced by 502', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n');
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
  });
});
