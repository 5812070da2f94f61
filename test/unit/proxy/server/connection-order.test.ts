import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { startListener } from '../../../support/listener.ts';
import { headerOf, RawClient } from '../../../support/raw-http.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Bytes of a body that nobody would finish to send. */
const ANNOUNCED = 1e15;

/** What a parser refuses behind a request in progress. */
const MALFORMED: readonly (readonly [string, string])[] = [
  ['no request', '\x00\x01\x02\r\n\r\n'],
  ['an unknown version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
  ['a malformed field', 'GET / HTTP/1.1\r\nHost a\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['a header that is too long', `GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
];

describe('a malformed request behind a request in progress', () => {
  test.each(MALFORMED)('never precedes the response of that: %s', async (_what, bytes) => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(GET + bytes);
    const [, response] = await listener.next();
    response.end('slow');
    const received = await client.response();
    expect(received).toMatchObject({ status: 200, body: 'slow' });
    expect(headerOf(received, 'connection')).toBe('close');
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
  });

  test.each(MALFORMED)('does not cut off a response that has begun: %s', async (_what, bytes) => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(GET);
    const [, response] = await listener.next();
    response.writeHead(200, { 'content-length': 4 }).write('be');
    await client.receives('be');
    client.send(bytes);
    const total = GET.length + bytes.length;
    await eventually('the bytes are read', () => response.socket?.bytesRead === total);
    response.end('ef');
    expect(await client.response()).toMatchObject({ status: 200, body: 'beef' });
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
  });

  test('lets every earlier response through, in the order of the requests', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(`${GET}${GET}GET / HTTP/9.9\r\n\r\n`);
    const [, slow] = await listener.next();
    slow.end('slow');
    const [, quick] = await listener.next();
    quick.end('quick');
    expect((await client.response()).body).toBe('slow');
    expect((await client.response()).body).toBe('quick');
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
  });

  test('is not answered if it is only its body that is malformed', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(`${GET}${CHUNKED}xyz\r\n`);
    const [, slow] = await listener.next();
    slow.end('slow');
    expect((await client.response()).body).toBe('slow');
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
    expect(listener.waiting).toBe(0);
  });

  test('that is followed by bytes without end is disconnected before the response', async () => {
    await using listener = await startListener({ lingerBytes: 100_000 });
    await using client = await RawClient.connect(listener.port);
    client.send(`${GET}GET / HTTP/9.9\r\n\r\n`);
    const [, slow] = await listener.next();
    const left = new Promise((resolve) => slow.once('close', resolve));
    const pump = setInterval(() => client.send(Buffer.alloc(10_000)), 1);
    await client.closed.finally(() => clearInterval(pump));
    await left;
    expect(client.received).toBe('');
    expect(slow.headersSent).toBe(false);
  });

  test('whose header never ends closes the connection after the earlier response', async () => {
    await using listener = await startListener({ headersMs: 40 });
    await using client = await RawClient.connect(listener.port);
    client.send(`${GET}GET / HTTP/1.1\r\nHos`);
    const [, slow] = await listener.next();
    // A client that is alone with such a header is refused at the same check, or an earlier one.
    await using alone = await RawClient.connect(listener.port);
    alone.send('GET / HTTP/1.1\r\nHos');
    expect((await alone.response()).status).toBe(408);
    client.send('t: app.test\r\n\r\n');
    slow.end('slow');
    expect((await client.response()).body).toBe('slow');
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
  });
});

describe('a malformed request alone', () => {
  test.each(MALFORMED)('is answered, and its connection closed: %s', async (_what, bytes) => {
    await using listener = await startListener();
    for (const before of ['', GET]) {
      await using client = await RawClient.connect(listener.port);
      client.send(before);
      if (before !== '') {
        (await listener.next())[1].end('first');
        await client.receives('first');
        await client.response();
      }
      client.send(bytes);
      expect([400, 431]).toContain((await client.response()).status);
      expect(await client.closed).toBe('ended');
      expect(client.received).toBe('');
    }
  });
});

describe('a body after a refusal', () => {
  test('that trickles is not read for ever: its connection is closed', async () => {
    await using listener = await startListener({ bodyStallMs: 20 });
    await using client = await RawClient.connect(listener.port);
    client.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 60000\r\n\r\n');
    const [message, response] = await listener.next();
    response.writeHead(401).end('who are you?');
    const received = await client.response();
    expect(received.status).toBe(401);
    expect(headerOf(received, 'connection')).toBe('keep-alive');
    const trickle = setInterval(() => client.send('x'), 1);
    await client.closed.finally(() => clearInterval(trickle));
    expect(message.complete).toBe(false);
  });

  test('that was announced and never sent closes the connection too', async () => {
    await using listener = await startListener({ bodyStallMs: 20 });
    await using client = await RawClient.connect(listener.port);
    const expectation = 'Content-Length: 5\r\nExpect: 100-continue\r\n';
    client.send(`POST / HTTP/1.1\r\nHost: app.test\r\n${expectation}\r\n`);
    const [, response] = await listener.next();
    response.writeHead(401).end('who are you?');
    expect((await client.response()).status).toBe(401);
    await client.closed;
  });

  test('is read up to a number of bytes, however fast it is sent', async () => {
    await using listener = await startListener({
      lingerMs: 100_000,
      lingerBytes: 16 * 1024 * 1024,
    });
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined).resume();
    socket.write(
      `POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${String(ANNOUNCED)}\r\n\r\n`,
    );
    const [, response] = await listener.next();
    response.writeHead(413).end('too much');
    const mebibyte = Buffer.alloc(1024 * 1024);
    let sent = 0;
    const pump = (): void => {
      if (socket.destroyed || socket.errored !== null) return;
      sent += 1;
      socket.write(mebibyte, pump);
    };
    pump();
    await closed;
    expect(sent).toBeGreaterThan(15);
    expect(sent).toBeLessThan(ANNOUNCED / mebibyte.length);
  });
});

describe('a connection without a request in progress', () => {
  test('is closed when it has been idle for too long', async () => {
    await using listener = await startListener({ keepAliveMs: 20 });
    await using client = await RawClient.connect(listener.port);
    client.send(GET);
    (await listener.next())[1].end('ok');
    expect((await client.response()).body).toBe('ok');
    expect(await client.closed).toBe('ended');
  });

  test('is not closed by a drain as long as the drain lets it be idle', async () => {
    const keepAliveMs = 1000;
    await using listener = await startListener({ keepAliveMs });
    await using client = await RawClient.connect(listener.port);
    client.send(GET);
    (await listener.next())[1].end('ok');
    await client.response();
    const drainMs = 20 * keepAliveMs;
    const closed = listener.close(drainMs, undefined, drainMs);
    await wait(2 * keepAliveMs);
    client.send(GET);
    (await listener.next())[1].end('once more');

    expect((await client.response()).body).toBe('once more');
    expect(await client.closed).toBe('ended');
    await closed;
  });

  test('is closed when the client closes its side', async () => {
    await using listener = await startListener();
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
    const ended = new Promise((resolve) => socket.once('end', resolve));
    socket.resume().end();
    await ended;
    await eventually('the connection has ended', () => listener.connections() === 0);
    expect(socket.destroyed).toBe(true);
  });
});
