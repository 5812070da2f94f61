import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import { describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import { aCompiledRoute, aSnapshot } from '../../support/compiled-resources.ts';
import { compiledSettings } from '../../support/compiled-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { open, send } from '../../support/http-client.ts';
import { headerOf, RawClient } from '../../support/raw-http.ts';
import { startUpstream } from '../../support/upstream.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n';
const HANDSHAKE = `${GET}Connection: Upgrade\r\nUpgrade: websocket\r\n`;

const NO_WAIT = { minMs: 0, timeoutMs: 10_000 };
const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

describe('A request whose error response fails', () => {
  test.each([
    ['a request', `${GET}\r\n`],
    ['a handshake', `${HANDSHAKE}\r\n`],
  ])('is logged and disconnected, and the process survives: %s', async (_what, bytes) => {
    // Without a configuration nothing can be served, not even an error.
    await using gateway = await startGateway();
    await using client = await RawClient.connect(gateway.port);
    client.send(bytes);
    await client.closed;
    expect(client.received).toBe('');
    expect(gateway.logs()).toEqual([
      expect.objectContaining({
        level: 'error',
        message: 'request failed unexpectedly',
        error: 'Error: there is no configuration yet',
      }),
    ]);
  });
});

/** A public route of everything on the gateway's port. */
function routeTo(upstream: string, { port }: TestGateway): CompiledRoute {
  return aCompiledRoute({
    scheme: 'http',
    host: 'localhost',
    port,
    upstream,
    allowWebsockets: true,
  });
}

/** Serves one public route from now on. */
function serve(gateway: TestGateway, upstream: string): Promise<void> {
  return gateway.gateway.apply(aSnapshot(compiledSettings(), routeTo(upstream, gateway)));
}

describe('A snapshot', () => {
  test('that cannot be served is refused, and changes nothing', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
    const version = gateway.gateway.version();
    const broken = routeTo('http://127.0.0.1:1', gateway);
    const worse = aCompiledRoute({ name: 'default/other', path: { kind: 'regex', value: '(' } });
    const next = aSnapshot(compiledSettings(), broken, worse);
    await expect(gateway.gateway.apply(next)).rejects.toThrow('Invalid regular expression');
    expect(gateway.gateway.version()).toBe(version);
    expect((await send(gateway.origin)).body).toBe('served');
    // And the next one is still compared with what is served.
    await serve(gateway, upstream.origin);
    expect((await send(gateway.origin)).body).toBe('served');
  });

  test('is refused if another one was applied while it was made ready', async () => {
    await using gateway = await startGateway();
    const [first, second] = ['http://127.0.0.1:1', 'http://127.0.0.1:2'].map((upstream) =>
      serve(gateway, upstream),
    );
    await first;
    await expect(second).rejects.toThrow('another snapshot was applied meanwhile');
  });

  test('applies to later requests, not to current ones', async () => {
    await using before = await startUpstream((message, response) => {
      response.write('begun, ');
      message.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end());
    });
    await using after = await startUpstream((_message, response) => response.end('other'));
    await using gateway = await startGateway();
    await serve(gateway, before.origin);
    await using client = await RawClient.connect(gateway.port);
    const host = `Host: localhost:${String(gateway.port)}`;
    client.send(`POST / HTTP/1.1\r\n${host}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(10)}`);
    await client.receives('begun, ');
    await serve(gateway, after.origin);
    expect((await send(gateway.origin)).body).toBe('other');
    client.send('x'.repeat(99_990));
    expect((await client.response()).body).toHaveLength('begun, '.length + 100_000);
    // Nobody names it any more: its connection is closed once it is idle.
    const [socket] = before.connections;
    await eventually('the connection is closed', () => socket?.destroyed === true, 3_000);
  });
});

describe('A gateway that is not ready', () => {
  test('reports the reason', async () => {
    await using gateway = await startGateway();
    const reasons = [gateway.gateway.whyNotReady()];
    await serve(gateway, 'http://127.0.0.1:1');
    reasons.push(gateway.gateway.whyNotReady());
    await gateway.gateway.listen([]);
    reasons.push(gateway.gateway.whyNotReady());
    await gateway.gateway.close();
    reasons.push(gateway.gateway.whyNotReady());
    expect(reasons).toEqual(['no snapshot yet', undefined, 'not listening', 'draining']);
  });
});

describe('A gateway that drains', () => {
  test('still serves at first, with the last response of every connection', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
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

  test('closes idle connections', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
    await using idle = await RawClient.connect(gateway.port);
    idle.send(`GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
    await idle.response();
    await using unused = await RawClient.connect(gateway.port);
    await eventually('both are counted', () => gateway.gateway.connections() === 2);
    await gateway.gateway.drain(NO_WAIT);
    await Promise.all([idle.closed, unused.closed]);
    expect(gateway.gateway.connections()).toBe(0);
  });

  test('ends event streams after an event, and aborts them at their upstreams', async () => {
    await using upstream = await startUpstream((message, response) => {
      response.writeHead(200, EVENT_STREAM).write('data: 1\n\n');
      if (message.url === '/within') response.write('da');
    });
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
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

  test('ends later event streams before their first event', async () => {
    await using upstream = await startUpstream((message) => void message.resume());
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
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

  test('lets the event stream of a call deliver its answer', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, EVENT_STREAM).write('data: progress\n\n');
    });
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
    const answer = await open(gateway.origin, { method: 'POST', body: 'call' });
    await once(answer, 'readable');
    const drained = gateway.gateway.drain(NO_WAIT);
    await expectRefused(gateway);
    (await upstream.request(0)).response.end('data: result\n\n');
    expect(await text(answer)).toBe('data: progress\n\ndata: result\n\n');
    await drained;
  });

  test('ends event streams of calls after the timeout, and cuts off all other responses', async () => {
    await using upstream = await startUpstream((message, response) => {
      const headers = message.method === 'POST' ? EVENT_STREAM : { 'content-type': 'text/plain' };
      response.writeHead(200, headers).write('data: 1\n\n');
    });
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
    const call = await open(gateway.origin, { method: 'POST', body: 'call' });
    const download = await open(gateway.origin);
    const ends = [text(call), text(download)];
    await gateway.gateway.drain({ minMs: 0, timeoutMs: 50 });
    expect(await ends[0]).toBe('data: 1\n\n');
    await expect(ends[1]).rejects.toThrow('aborted');
  });

  test('lets a long download finish', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': '200000' }).write('x'.repeat(100_000));
    });
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
    const download = await open(gateway.origin);
    const drained = gateway.gateway.drain(NO_WAIT);
    await expectRefused(gateway);
    (await upstream.request(0)).response.end('x'.repeat(100_000));
    expect(await text(download)).toHaveLength(200_000);
    await drained;
  });

  test('sends a close frame on WebSockets, between two messages', async () => {
    await using upstream = await startUpstream((_message, response) => response.end());
    const sockets = new WebSocketServer({ server: upstream.server });
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
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

  test('waits for the rest of a WebSocket message', async () => {
    await using upstream = await startUpstream((_message, response) => response.end());
    upstream.server.on('upgrade', (_message: IncomingMessage, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n');
      // The header of a text of five bytes, and two of them.
      socket.write('Connection: Upgrade\r\n\r\n\x81\x05he', 'latin1');
      socket.once('data', () => undefined);
      drainBegan.promise.then(
        () => void socket.write('llo\x81\x03not', 'latin1'),
        () => undefined,
      );
    });
    const drainBegan = Promise.withResolvers<undefined>();
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
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

/** Waits until the gateway takes no connections any more. */
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
