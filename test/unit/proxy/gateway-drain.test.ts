import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { open } from '../../support/http-client.ts';
import { headerOf, RawClient } from '../../support/raw-http.ts';
import { startUpstream } from '../../support/upstream.ts';
import { servePublicRoute } from '../../support/public-route.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n';
const HANDSHAKE = `${GET}Connection: Upgrade\r\nUpgrade: websocket\r\n`;

const NO_WAIT = { minMs: 0, timeoutMs: 10_000 };
const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

describe('A gateway that drains', () => {
  test('the gateway still serves at first, with the last response of every connection', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const request = `GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`;
    await using kept = await RawClient.connect(gateway.port);
    kept.send(request);
    expect(headerOf(await kept.response(), 'connection')).toBe('keep-alive');

    const drained = gateway.gateway.drain({ minMs: 500, timeoutMs: 10_000 });
    expect(gateway.gateway.whyNotReady()).toBe('draining');
    await using fresh = await RawClient.connect(gateway.port);
    for (const client of [kept, fresh]) {
      client.send(request);
      const response = await client.response();
      expect(response.body).toBe('served');
      expect(headerOf(response, 'connection')).toBe('close');
      expect(await client.closed).toBe('ended');
    }
    await drained;
    await expect(RawClient.connect(gateway.port)).rejects.toThrow('ECONNREFUSED');
  });

  test('the gateway serves a client that uses a connection again whose stream the drain has ended', async () => {
    await using upstream = await startUpstream((message, response) => {
      if (message.url === '/stream') response.writeHead(200, EVENT_STREAM).write('data: 1\n\n');
      else response.end('served');
    });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const host = `Host: localhost:${String(gateway.port)}`;
    await using client = await RawClient.connect(gateway.port);
    client.send(`GET /stream HTTP/1.1\r\n${host}\r\n\r\n`);
    await upstream.request(0);
    await using unused = await RawClient.connect(gateway.port);

    const drained = gateway.gateway.drain({ minMs: 1000, timeoutMs: 10_000 });
    const stream = await client.response();
    expect(stream.body).toBe('data: 1\n\n');
    expect(headerOf(stream, 'connection')).toBe('keep-alive');
    await expectRefused(gateway);
    for (const each of [client, unused]) {
      each.send(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
      const response = await each.response();
      expect(response.body).toBe('served');
      expect(headerOf(response, 'connection')).toBe('close');
    }
    await drained;
  });

  test('the gateway serves a request on a connection that was idle for less than the delay again', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const request = `GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`;
    await using client = await RawClient.connect(gateway.port);
    client.send(request);
    await client.response();
    const drained = gateway.gateway.drain({ minMs: 5000, timeoutMs: 10_000 });
    await expectRefused(gateway);
    await wait(3000);
    client.send(request);

    expect((await client.response()).body).toBe('served');
    await drained;
  });

  test('the gateway closes connections that stay idle', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    await using idle = await RawClient.connect(gateway.port);
    idle.send(`GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
    await idle.response();
    await using unused = await RawClient.connect(gateway.port);
    await gateway.gateway.drain({ minMs: 100, timeoutMs: 60_000 });
    expect(await Promise.all([idle.closed, unused.closed])).toEqual(['ended', 'ended']);
  });

  test('the gateway closes idle connections', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    await using idle = await RawClient.connect(gateway.port);
    idle.send(`GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
    await idle.response();
    await using unused = await RawClient.connect(gateway.port);
    await eventually('both are counted', () => gateway.gateway.connections() === 2);
    await gateway.gateway.drain(NO_WAIT);
    await Promise.all([idle.closed, unused.closed]);
    expect(gateway.gateway.connections()).toBe(0);
  });

  test('the gateway ends event streams after an event, and aborts them at their upstreams', async () => {
    await using upstream = await startUpstream((message, response) => {
      response.writeHead(200, EVENT_STREAM).write('data: 1\n\n');
      if (message.url === '/within') response.write('da');
    });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const behind = await open(`${gateway.origin}/behind`);
    const within = await open(`${gateway.origin}/within`);
    await Promise.all([once(behind, 'readable'), once(within, 'readable')]);
    const whole = [text(behind), text(within)];

    const drained = gateway.gateway.drain(NO_WAIT);
    expect(await whole[0]).toBe('data: 1\n\n');
    expect(await (await upstream.request(0)).finished).toBe(false);
    expect(gateway.gateway.connections()).toBeGreaterThan(0);
    (await upstream.request(1)).response.write('ta: 2\n\ndata: 3\n\n');
    expect(await whole[1]).toBe('data: 1\n\ndata: 2\n\n');
    await drained;
  });

  test('the gateway ends later event streams before their first event', async () => {
    await using upstream = await startUpstream((message) => void message.resume());
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const stream = open(gateway.origin);
    const { response, finished } = await upstream.request(0);
    const drained = gateway.gateway.drain(NO_WAIT);
    await expectRefused(gateway);
    response.writeHead(200, EVENT_STREAM).write('data: 1\n\n');
    const { statusCode, headers } = await stream;
    expect({ statusCode, type: headers['content-type'] }).toEqual({
      statusCode: 200,
      type: EVENT_STREAM['content-type'],
    });
    expect(await text(await stream)).toBe('');
    expect(await finished).toBe(false);
    await drained;
  });

  test('a resumed event stream brings an event before the gateway ends it', async () => {
    await using upstream = await startUpstream((message) => void message.resume());
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const stream = open(gateway.origin, { headers: { 'last-event-id': '1' } });
    const { response } = await upstream.request(0);
    const drained = gateway.gateway.drain({ minMs: 100, timeoutMs: 10_000 });
    await expectRefused(gateway);
    response.writeHead(200, EVENT_STREAM).write('id: 2\n\nid: 3\n\n');
    expect(await text(await stream)).toBe('id: 2\n\n');
    await drained;
  });

  test('a resumed event stream without events ends soon', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, EVENT_STREAM).flushHeaders();
    });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const stream = await open(gateway.origin, { headers: { 'last-event-id': '1' } });
    const ended = text(stream);
    await gateway.gateway.drain({ minMs: 50, timeoutMs: 600_000 });
    expect(await ended).toBe('');
  });

  test('the event stream of a call delivers its response', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, EVENT_STREAM).write('data: progress\n\n');
    });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const answer = await open(gateway.origin, { method: 'POST', body: 'call' });
    await once(answer, 'readable');
    const drained = gateway.gateway.drain(NO_WAIT);
    await expectRefused(gateway);
    (await upstream.request(0)).response.end('data: result\n\n');
    expect(await text(answer)).toBe('data: progress\n\ndata: result\n\n');
    await drained;
  });

  test('the gateway ends event streams of calls after the timeout, and aborts all other responses', async () => {
    await using upstream = await startUpstream((message, response) => {
      const headers = message.method === 'POST' ? EVENT_STREAM : { 'content-type': 'text/plain' };
      response.writeHead(200, headers).write('data: 1\n\n');
    });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const call = await open(gateway.origin, { method: 'POST', body: 'call' });
    const download = await open(gateway.origin);
    const ends = [text(call), text(download)];
    await gateway.gateway.drain({ minMs: 0, timeoutMs: 50 });
    expect(await ends[0]).toBe('data: 1\n\n');
    await expect(ends[1]).rejects.toThrow('aborted');
  });

  test('a long download completes', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': '200000' }).write('x'.repeat(100_000));
    });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const download = await open(gateway.origin);
    const drained = gateway.gateway.drain(NO_WAIT);
    await expectRefused(gateway);
    (await upstream.request(0)).response.end('x'.repeat(100_000));
    expect(await text(download)).toHaveLength(200_000);
    await drained;
  });

  test('the gateway sends a close frame on WebSockets, between two messages', async () => {
    await using upstream = await startUpstream((_message, response) => response.end());
    const sockets = new WebSocketServer({ server: upstream.server });
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const accepted = once(sockets, 'connection');
    const client = new WebSocket(gateway.origin.replace('http:', 'ws:'));
    await once(client, 'open');
    const [server] = (await accepted) as [WebSocket];
    const messages: string[] = [];
    client.on('message', (data: Buffer) => messages.push(data.toString()));
    server.send('x'.repeat(70_000));
    await eventually('the message is there', () => messages.length === 1);

    const [clientClosed, serverClosed] = [once(client, 'close'), once(server, 'close')];
    await gateway.gateway.drain(NO_WAIT);
    expect((await clientClosed)[0]).toBe(1001);
    expect((await serverClosed)[0]).toBe(1001);
  });

  test('the gateway waits for the rest of a WebSocket message', async () => {
    await using upstream = await startUpstream((_message, response) => response.end());
    upstream.server.on('upgrade', (_message: IncomingMessage, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n');
      // The header of a text message of five bytes, and two of these bytes.
      socket.write('Connection: Upgrade\r\n\r\n\x81\x05he', 'latin1');
      socket.once('data', () => undefined);
      drainBegan.promise.then(
        () => void socket.write('llo\x81\x03not', 'latin1'),
        () => undefined,
      );
    });
    const drainBegan = Promise.withResolvers<undefined>();
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    await using client = await RawClient.connect(gateway.port);
    const handshake = HANDSHAKE.replace('app.test', `localhost:${String(gateway.port)}`);
    client.send(`${handshake}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc=\r\n\r\n`);
    await client.receives('\x81\x05he');
    const drained = gateway.gateway.drain(NO_WAIT);
    await expectRefused(gateway);
    drainBegan.resolve(undefined);
    await client.receives('hello\x88\x02\x03\xe9');
    expect(client.received).not.toContain('not');
    client.socket.destroy();
    await drained;
  });
});

/** Waits until the gateway refuses connections. */
async function expectRefused({ port }: TestGateway): Promise<void> {
  await eventually('connections are refused', async () => {
    try {
      await using client = await RawClient.connect(port);
      client.socket.end();
      return false;
    } catch {
      return true;
    }
  });
}
