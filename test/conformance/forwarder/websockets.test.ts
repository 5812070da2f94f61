import { once } from 'node:events';
import type { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { ClientGoneError } from '../../../proxy/errors/request-errors.ts';
import { UpstreamUnreachableError } from '../../../proxy/errors/upstream-errors.ts';
import { startFront } from '../../support/front.ts';
import { headerOf, RawClient } from '../../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../../support/upstream.ts';
import { silent, answerOk, valuesOf, closing } from '../../support/forwarder-wire.ts';

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

/** Names of the members that every plain object has. */
const PROTOTYPE_NAMES = ['constructor', 'toString', 'hasOwnProperty'];

describe('A WebSocket', () => {
  test('a WebSocket carries messages both ways, with the same path and the gateway’s fields', async () => {
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
  ])(
    'a WebSocket whose client %s before the 101 is closed at the upstream',
    async (_how, leave) => {
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
    },
  );

  test.each<[string, 'client' | 'upstream']>([
    ['its upstream', 'client'],
    ['its client', 'upstream'],
  ])('a WebSocket that is reset on one side resets %s', async (_other, side) => {
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
    // A half-open connection is of no use, so a write finds the other side closed.
    const pump = setInterval(() => socket.write('more'), 5);
    await Promise.all([closing(socket), client.closed]).finally(() => clearInterval(pump));
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('a handshake that the upstream declines gets the upstream’s response', async () => {
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

  test('a handshake gets 502 if the upstream cannot be reached', async () => {
    const upstream = await startUpstream(answerOk);
    await upstream[Symbol.asyncDispose]();
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect((await client.response()).status).toBe(502);
    expect(await client.closed).toBe('ended');
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test('a handshake gets 502 if the upstream sends half a response', async () => {
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
  ])(
    'a handshake gets 502 if the upstream answers with %s, and the process survives',
    async (_what, bytes) => {
      await using upstream = await startRawUpstream((socket) => {
        socket.once('data', () => socket.write(bytes));
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send(`${HANDSHAKE}\r\n\r\n`);
      expect((await client.response()).status).toBe(502);
      expect(await client.closed).toBe('ended');
      expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
    },
  );

  test.each(PROTOTYPE_NAMES)(
    'a handshake with a field named %s is forwarded with that field',
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
    'a handshake response with a field named %s is forwarded with that field',
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

  test('a handshake loses the field __proto__ in both directions, and no other', async () => {
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

  test('a handshake gets 504 if the upstream does not answer in time', async () => {
    await using upstream = await startRawUpstream(() => undefined);
    const route = { responseTimeoutMs: 50 };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\n\r\n`);
    expect((await client.response()).status).toBe(504);
  });

  test('a handshake never forwards the client’s 100-continue before the gateway’s own fields', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`${HANDSHAKE}\r\nExpect: 100-continue\r\nX-Gateway-A: forged\r\n\r\n`);
    await client.response();
    expect(upstream.requests[0]?.message.headers).not.toHaveProperty('x-gateway-a');
    expect(upstream.requests[0]?.message.headers).not.toHaveProperty('expect');
  });
});
