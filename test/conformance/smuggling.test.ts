import { describe, expect, test } from '@jest/globals';

import { startFront } from '../support/front.ts';
import { headerOf, RawClient } from '../support/raw-http.ts';
import { startUpstream } from '../support/upstream.ts';

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: app.test\r\n\r\n';
const CHUNKED_SMUGGLED = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;

/** Returns a message with these header lines and this body. */
function message(lines: readonly string[], body = ''): string {
  return [...lines, '', body].join('\r\n');
}

describe('A message with ambiguous framing', () => {
  test.each<[string, string]>([
    [
      'Content-Length and Transfer-Encoding',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'Content-Length: 6', 'Transfer-Encoding: chunked'],
        `0\r\n\r\n${SMUGGLED}`,
      ),
    ],
    [
      'Transfer-Encoding and Content-Length',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'Transfer-Encoding: chunked', 'Content-Length: 4'],
        CHUNKED_SMUGGLED,
      ),
    ],
    [
      'two lengths that differ',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'Content-Length: 0', 'Content-Length: 44'],
        SMUGGLED,
      ),
    ],
    [
      'two lengths that are equal',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'Content-Length: 0', 'Content-Length: 0'],
        SMUGGLED,
      ),
    ],
    [
      'a list of lengths',
      message(['POST / HTTP/1.1', 'Host: app.test', 'Content-Length: 0, 44'], SMUGGLED),
    ],
    ...['+0', '-1', '0x0', '0 0', '', '1e1', '99999999999999999999'].map(
      (length): [string, string] => [
        `the length ${JSON.stringify(length)}`,
        message(['POST / HTTP/1.1', 'Host: app.test', `Content-Length: ${length}`], SMUGGLED),
      ],
    ),
    ...[
      'identity, chunked',
      'chunked, identity',
      'gzip, chunked',
      'chunked, chunked',
      'xchunked',
      'identity',
      '"chunked"',
      ',chunked',
      'chunked;q=1',
    ].map((coding): [string, string] => [
      `Transfer-Encoding: ${coding}`,
      message(
        ['POST / HTTP/1.1', 'Host: app.test', `Transfer-Encoding: ${coding}`],
        CHUNKED_SMUGGLED,
      ),
    ]),
    [
      'two Transfer-Encoding fields',
      message(
        [
          ...['POST / HTTP/1.1', 'Host: app.test'],
          ...['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
        ],
        CHUNKED_SMUGGLED,
      ),
    ],
    [
      'chunks in HTTP/1.0',
      message(
        [
          ...['POST / HTTP/1.0', 'Host: app.test'],
          ...['Connection: keep-alive', 'Transfer-Encoding: chunked'],
        ],
        CHUNKED_SMUGGLED,
      ),
    ],
    [
      'a space before the colon',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'Transfer-Encoding : chunked'],
        CHUNKED_SMUGGLED,
      ),
    ],
    [
      'a folded field',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'X: y', ' Transfer-Encoding: chunked'],
        CHUNKED_SMUGGLED,
      ),
    ],
    [
      'a folded Transfer-Encoding',
      message(
        ['POST / HTTP/1.1', 'Host: app.test', 'Transfer-Encoding:', '\tchunked'],
        CHUNKED_SMUGGLED,
      ),
    ],
    [
      'bare line feeds in the header',
      `POST / HTTP/1.1\nHost: app.test\nContent-Length: 0\n\n${SMUGGLED}`,
    ],
    [
      'a bare line feed in a value',
      message(['POST / HTTP/1.1', 'Host: app.test', 'X: y\nContent-Length: 44'], SMUGGLED),
    ],
    [
      'a bare carriage return in a value',
      message(['POST / HTTP/1.1', 'Host: app.test', 'X: y\rContent-Length: 44'], SMUGGLED),
    ],
    [
      'NUL in a value',
      message(['POST / HTTP/1.1', 'Host: app.test', 'X: y\x00', 'Content-Length: 0'], SMUGGLED),
    ],
    [
      'NUL in a name',
      message(['POST / HTTP/1.1', 'Host: app.test', 'X\x00: y', 'Content-Length: 0'], SMUGGLED),
    ],
    [
      'a line without a colon',
      message(['POST / HTTP/1.1', 'Host: app.test', 'Content-Length 44'], SMUGGLED),
    ],
    ['a space in front of the first field', 'GET / HTTP/1.1\r\n Host: app.test\r\n\r\n'],
    ['another protocol', 'GET / HTTPS/1.1\r\nHost: app.test\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: app.test\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('a message is refused, and nothing after it is served: %s', async (_what, bytes) => {
    await using upstream = await startUpstream((received, response) => {
      received.resume();
      response.end('ok');
    });
    const served: string[] = [];
    await using front = await startFront({
      upstream: upstream.origin,
      authorize: ({ path }) => void served.push(path),
    });
    await using client = await RawClient.connect(front.port);
    client.send(bytes + SMUGGLED);
    await client.closed;
    const response = await client.response();
    expect(response.status).toBe(400);
    expect(headerOf(response, 'connection')).toBe('close');
    expect(client.received).toBe('');
    expect(served).toStrictEqual([]);
    expect(upstream.requests).toHaveLength(0);
  });

  test.each<[string, string]>([
    ['a size with a sign', '+4\r\nbody\r\n0\r\n\r\n'],
    ['a size with a prefix', '0x4\r\nbody\r\n0\r\n\r\n'],
    ['a size that is not a number', 'zz\r\nbody\r\n0\r\n\r\n'],
    ['a negative size', '-1\r\nbody\r\n0\r\n\r\n'],
    ['a size beyond 64 bits', 'fffffffffffffffff\r\nbody\r\n0\r\n\r\n'],
    ['a bare line feed after the size', '4\nbody\r\n0\r\n\r\n'],
    ['a bare line feed after the chunk', '4\r\nbody\n0\r\n\r\n'],
    ['a chunk that is longer than its size', '4\r\nbody and more\r\n0\r\n\r\n'],
    ['a line feed in an extension', '4;a=b\nc\r\nbody\r\n0\r\n\r\n'],
    ['NUL in an extension', '4;a\x00\r\nbody\r\n0\r\n\r\n'],
    ['a folded trailer', '4\r\nbody\r\n0\r\nA: b\r\n c\r\n\r\n'],
    ['extensions that are too long', `4;${'a'.repeat(20_000)}\r\nbody\r\n0\r\n\r\n`],
  ])(
    'a message with malformed chunks does not reach the upstream whole: %s',
    async (_what, body) => {
      await using upstream = await startUpstream((received, response) => {
        received.resume().on('end', () => response.end('ok'));
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n');
      client.send(body + SMUGGLED);
      await client.closed;
      await front.outcome(0);
      for (const { finished, message: received } of upstream.requests) {
        expect(await finished).toBe(false);
        expect(received.complete).toBe(false);
        expect(received.url).toBe('/');
      }
      expect(client.received).not.toContain(' 200 ');
    },
  );

  test('chunk extensions that are valid are not forwarded', async () => {
    await using upstream = await startUpstream((received, response) => {
      received.setEncoding('utf8');
      let body = '';
      received.on('data', (part: string) => (body += part));
      received.on('end', () => response.end(body));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n');
    client.send('4;a=b;c="d"\r\nbody\r\n0;last\r\n\r\n');
    expect(await client.response()).toMatchObject({ status: 200, body: 'body' });
  });
});

describe('A message with an ambiguous host', () => {
  test.each<[string, string]>([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: app.test\r\nHost: evil.test\r\n\r\n'],
    ['two equal Hosts', 'GET / HTTP/1.1\r\nHost: app.test\r\nhost: app.test\r\n\r\n'],
    ['a Host with a list', 'GET / HTTP/1.1\r\nHost: app.test, evil.test\r\n\r\n'],
    ['a Host with a user', 'GET / HTTP/1.1\r\nHost: app.test@evil.test\r\n\r\n'],
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: app.test/evil\r\n\r\n'],
    ['absolute form elsewhere', 'GET http://evil.test/ HTTP/1.1\r\nHost: app.test\r\n\r\n'],
    ['authority form', 'GET app.test:443 HTTP/1.1\r\nHost: app.test\r\n\r\n'],
    ['asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: app.test\r\n\r\n'],
    ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n'],
    [
      'a second Host behind a thousand fields',
      `GET / HTTP/1.1\r\nHost: app.test\r\n${'a:\r\n'.repeat(1_100)}Host: evil.test\r\n\r\n`,
    ],
  ])('a message is refused, and the connection is closed: %s', async (_what, bytes) => {
    await using upstream = await startUpstream((_message, response) => response.end('ok'));
    const served: string[] = [];
    await using front = await startFront({
      upstream: upstream.origin,
      authorize: ({ path }) => void served.push(path),
    });
    await using client = await RawClient.connect(front.port);
    client.send(bytes + SMUGGLED);
    expect(await client.closed).toBe('ended');
    const response = await client.response();
    expect(response.status).toBe(400);
    expect(headerOf(response, 'connection')).toBe('close');
    expect(client.received).toBe('');
    expect(served).toStrictEqual([]);
    expect(upstream.requests).toHaveLength(0);
  });
});

test('a header that is too long gets 431, and the connection is closed', async () => {
  await using upstream = await startUpstream((_message, response) => response.end('ok'));
  await using front = await startFront({ upstream: upstream.origin });
  await using client = await RawClient.connect(front.port);
  client.send(`GET / HTTP/1.1\r\nHost: app.test\r\nX: ${'y'.repeat(17_000)}\r\n\r\n${SMUGGLED}`);
  expect(await client.closed).toBe('ended');
  expect((await client.response()).status).toBe(431);
  expect(client.received).toBe('');
  expect(upstream.requests).toHaveLength(0);
});

test('an upgrade to another protocol than WebSocket is not forwarded, and hides no request', async () => {
  await using upstream = await startUpstream((message, response) => response.end(message.url));
  await using front = await startFront({ upstream: upstream.origin });
  await using client = await RawClient.connect(front.port);
  const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA';
  client.send(`GET /plain HTTP/1.1\r\nHost: app.test\r\n${upgrade}\r\n\r\n`);
  expect(await client.response()).toMatchObject({ status: 200, body: '/plain' });
  client.send('GET /next HTTP/1.1\r\nHost: app.test\r\n\r\n');
  expect(await client.response()).toMatchObject({ status: 200, body: '/next' });
  expect(upstream.requests[0]?.message.headers).not.toHaveProperty('upgrade');
});

test('a handshake with a body is refused, because the upstream would read the body as frames', async () => {
  await using upstream = await startUpstream((_message, response) => response.end('ok'));
  await using front = await startFront({ upstream: upstream.origin });
  await using client = await RawClient.connect(front.port);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 44';
  client.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}\r\n\r\n${SMUGGLED}`);
  expect((await client.response()).status).toBe(400);
  expect(await client.closed).toBe('ended');
  expect(upstream.requests).toHaveLength(0);
});
