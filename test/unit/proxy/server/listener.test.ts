import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { readBody } from '../../../../proxy/http/read-body.ts';
import { createListener } from '../../../../proxy/server/listener.ts';
import { LISTENER_LIMITS, startListener } from '../../../support/listener.ts';
import { headerOf, RawClient } from '../../../support/raw-http.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
const UPLOAD = 'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100000\r\n\r\n';

/** `once` would take the error of a reset for its own. */
function closing(socket: EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

describe('a slow client', () => {
  test('that does not finish its header gets 408, and is disconnected', async () => {
    await using listener = await startListener({ headersMs: 100 });
    await using client = await RawClient.connect(listener.port);
    client.send('GET / HTTP/1.1\r\nHost: app.te');
    expect((await client.response()).status).toBe(408);
    expect(await client.closed).toBe('ended');
  });

  test('that sends nothing is disconnected without a response', async () => {
    await using listener = await startListener({ headersMs: 100 });
    await using client = await RawClient.connect(listener.port);
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
  });

  test.each<[string, (message: IncomingMessage) => unknown]>([
    ['streamed', (message) => message.resume()],
    ['read whole', (message) => readBody(message, 100_000).catch(() => undefined)],
  ])('that stops in the middle of a body that is %s gets 408', async (_how, read) => {
    await using listener = await startListener({ bodyStallMs: 50 });
    await using client = await RawClient.connect(listener.port);
    client.send(`${UPLOAD}the first bytes`);
    const [message, response] = await listener.next();
    const left = once(response, 'close');
    read(message);
    expect((await client.response()).status).toBe(408);
    expect(await client.closed).toBe('ended');
    await left;
    expect(message.complete).toBe(false);
  });

  test.each<[string, (message: IncomingMessage) => unknown]>([
    ['nobody has begun to read its body', () => undefined],
    ['its body is not read on', (message) => message.resume().pause()],
  ])('is not disconnected while %s', async (_while, treat) => {
    await using listener = await startListener({ bodyStallMs: 20 });
    await using stalled = await RawClient.connect(listener.port);
    await using waiting = await RawClient.connect(listener.port);
    waiting.send(`${UPLOAD}the first bytes`);
    const [message, response] = await listener.next();
    treat(message);
    // By the time a client that is to blame is refused, this one would have been.
    stalled.send(`${UPLOAD}the first bytes`);
    const [awaited] = await listener.next();
    awaited.resume();
    await stalled.closed;
    response.end('still here');
    expect((await waiting.response()).body).toBe('still here');
  });
});

describe('a response', () => {
  test('that leaves a long body unread arrives, and closes the connection', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(UPLOAD);
    client.send(Buffer.alloc(90_000));
    const [, response] = await listener.next();
    response.writeHead(401).end('who are you?');
    const received = await client.response();
    expect(received).toMatchObject({ status: 401, body: 'who are you?' });
    expect(headerOf(received, 'connection')).toBe('close');
    expect(await client.closed).toBe('ended');
  });

  test('that leaves a short body unread keeps the connection', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 8\r\n\r\nhalf');
    const [, response] = await listener.next();
    response.writeHead(401).end('who are you?');
    expect((await client.response()).status).toBe(401);
    client.send(`half${GET}`);
    const [, next] = await listener.next();
    next.end('fine');
    expect((await client.response()).body).toBe('fine');
  });

  test('that closes the connection is the last: a request sent after it is not served', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n');
    const [, response] = await listener.next();
    client.send(GET + GET);
    response.end('last');
    expect(await client.closed).toBe('ended');
    expect((await client.response()).body).toBe('last');
    expect(client.received).toBe('');
  });

  test('arrives even if the client sends without end', async () => {
    await using listener = await startListener({ lingerMs: 50 });
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined).resume();
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const [, response] = await listener.next();
    const closed = closing(socket);
    const pump = setInterval(() => socket.write('1\r\nx\r\n'), 5);
    response.end('enough');
    await closed;
    clearInterval(pump);
    expect(socket.destroyed).toBe(true);
  });
});

describe('an upgrade', () => {
  test('can be refused with a whole response', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: WebSocket';
    client.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}\r\n\r\n`);
    const response = await client.response();
    expect(response).toMatchObject({ status: 403, reason: 'Forbidden', body: 'no' });
    expect(response.headers).toStrictEqual([
      ['x-list', 'a'],
      ['x-list', 'b'],
      ['Content-Length', '2'],
      ['Connection', 'close'],
    ]);
    expect(await client.closed).toBe('ended');
  });

  test('does not end the process if the client resets the connection', async () => {
    const listener = await createListener(
      { host: '127.0.0.1', port: 0 },
      { request: () => undefined, upgrade: (_message, socket) => upgraded.emit('socket', socket) },
      LISTENER_LIMITS,
    );
    const upgraded = new EventEmitter();
    const arrived = once(upgraded, 'socket');
    await using client = await RawClient.connect(listener.port);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket';
    client.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}\r\n\r\n`);
    const [socket] = (await arrived) as [EventEmitter];
    const closed = closing(socket);
    client.socket.resetAndDestroy();
    await closed;
    expect(client.socket.destroyed).toBe(true);
    await listener.close(0);
  });
});

describe('a listener that closes', () => {
  test('lets responses finish, as the last of their connections, and accepts no more requests', async () => {
    await using listener = await startListener();
    await using idle = await RawClient.connect(listener.port);
    await using busy = await RawClient.connect(listener.port);
    idle.send(GET);
    (await listener.next())[1].end();
    await idle.response();
    busy.send(GET);
    const [, response] = await listener.next();

    const closed = listener.close(10_000);
    expect(await idle.closed).toBe('ended');
    await expect(RawClient.connect(listener.port)).rejects.toThrow('ECONNREFUSED');
    response.end('the last');
    const received = await busy.response();
    expect(received.body).toBe('the last');
    expect(headerOf(received, 'connection')).toBe('close');
    expect(await busy.closed).toBe('ended');
    await closed;
  });

  test('closes a connection after the response that had begun', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(GET);
    const [, response] = await listener.next();
    response.writeHead(200, { 'content-length': '4' });
    response.write('be');
    await client.receives('be');
    const closed = listener.close(10_000);
    response.end('gun');
    expect(await client.closed).toBe('ended');
    await closed;
  });

  test('waits no longer than its timeout', async () => {
    await using listener = await startListener();
    await using stream = await RawClient.connect(listener.port);
    stream.send(GET);
    const [, response] = await listener.next();
    response.write('endless');
    await stream.receives('endless');
    await listener.close(20);
    await stream.closed;
    expect(stream.received).not.toContain('\r\n0\r\n');
  });
});
