import { once } from 'node:events';

import { describe, expect, test } from '@jest/globals';

import { sendThrough, TestPool } from '../../../support/pool-request.ts';
import { closing } from '../../../support/forwarder-wire.ts';
import { startRawUpstream, startUpstream, type RawUpstream } from '../../../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers every request with these bytes. */
function startAnswering(bytes: string): Promise<RawUpstream> {
  return startRawUpstream((socket) => socket.on('data', () => socket.write(bytes)));
}

function withFields(fields: string): string {
  return OK.replace('OK\r\n', `OK\r\n${fields}\r\n`);
}

describe('A pool of connections', () => {
  test('uses the connection that was used last', async () => {
    await using upstream = await startUpstream((message, response) => {
      response.end(String(message.socket.remotePort));
    });
    using pool = new TestPool(upstream.port);
    const ask = async (): Promise<string> =>
      (await sendThrough(pool).response).body.toString('latin1');
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first).not.toBe(second);
    expect(await ask()).toBe(second);
    expect(await ask()).toBe(second);
    expect(upstream.connections).toHaveLength(2);
  });

  test('has as many connections as there are requests at a time', async () => {
    await using upstream = await startUpstream(() => undefined);
    using pool = new TestPool(upstream.port);
    const requests = Array.from({ length: 50 }, () => sendThrough(pool));
    await upstream.request(49);
    for (const { response } of upstream.requests) response.end('ok');
    await Promise.all(requests.map(({ response }) => response));
    expect(upstream.connections).toHaveLength(50);
    for (let count = 0; count < 50; count += 1) sendThrough(pool);
    await upstream.request(99);
    expect(upstream.connections).toHaveLength(50);
  });

  test.each<[string, string]>([
    ['closes it', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
    ['speaks HTTP/1.0', OK.replace('1.1 200 OK', '1.0 200 OK\r\nConnection: keep-alive')],
    ['keeps it for less than two seconds', withFields('Keep-Alive: timeout=2')],
    ['sends more than one response', OK + OK],
    ['sends a byte too many', `${OK}\n`],
    ['sends a body with 304', OK.replace('200 OK', '304 Not Modified')],
  ])('uses no connection again if the upstream %s', async (_what, bytes) => {
    await using upstream = await startAnswering(bytes);
    using pool = new TestPool(upstream.port);
    for (let count = 1; count <= 3; count += 1) {
      await sendThrough(pool).response;
      expect(upstream.connections).toHaveLength(count);
    }
  });

  test.each<[string, string]>([
    ['keeps it for longer', withFields('Keep-Alive: timeout=60')],
    ['sends an informational response first', `HTTP/1.1 100 Continue\r\n\r\n${OK}`],
    ['sends trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: 1\r\n\r\n'],
  ])('uses a connection again if the upstream %s', async (_what, bytes) => {
    await using upstream = await startAnswering(bytes);
    using pool = new TestPool(upstream.port);
    for (let count = 1; count <= 3; count += 1) await sendThrough(pool).response;
    expect(upstream.connections).toHaveLength(1);
  });

  test.each<[string, Parameters<typeof sendThrough>[1], boolean]>([
    ['HEAD', { method: 'HEAD' }, false],
    ['GET with a body', { body: Buffer.from('x') }, false],
    ['DELETE with a body', { method: 'DELETE', body: Buffer.from('x') }, false],
    ['GET with an empty body', { body: Buffer.alloc(0) }, true],
    ['POST', { method: 'POST', body: Buffer.from('x') }, true],
    ['OPTIONS', { method: 'OPTIONS' }, true],
  ])('uses a connection again after %s: %j', async (_what, request, isKept) => {
    await using upstream = await startAnswering(
      request?.method === 'HEAD' ? 'HTTP/1.1 200 OK\r\n\r\n' : OK,
    );
    using pool = new TestPool(upstream.port);
    for (let count = 1; count <= 2; count += 1) await sendThrough(pool, request).response;
    expect(upstream.connections).toHaveLength(isKept ? 1 : 2);
  });

  test('closes an idle connection when bytes arrive on it', async () => {
    await using upstream = await startAnswering(OK);
    using pool = new TestPool(upstream.port);
    await sendThrough(pool).response;
    const [socket] = upstream.connections;
    socket?.write('HTTP/1.1 408 Request Timeout\r\n\r\n');
    if (socket !== undefined) await closing(socket);
    await sendThrough(pool).response;
    expect(upstream.connections).toHaveLength(2);
  });

  test('closes an idle connection before the upstream does, if that announces when', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.setHeader('Keep-Alive', 'timeout=3').end('ok');
    });
    using pool = new TestPool(upstream.port);
    await sendThrough(pool).response;
    const [socket] = upstream.connections;
    if (socket !== undefined) await once(socket, 'close');
    expect(socket?.errored).toBeNull();
    await sendThrough(pool).response;
    expect(upstream.connections).toHaveLength(2);
  });

  test('takes another connection if the one that was idle has just ended', async () => {
    await using upstream = await startAnswering(OK);
    using pool = new TestPool(upstream.port);
    await sendThrough(pool).response;
    upstream.connections[0]?.destroy();
    // The end is in the kernel now. It is read between here and the end of the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    const { response, events } = sendThrough(pool, { method: 'POST' });
    expect((await response).status).toBe(200);
    expect(events).toStrictEqual(['start', 'response 200', 'end']);
    expect(upstream.connections).toHaveLength(2);
  });

  test('does not send a request that is not wanted any more, and keeps its connection', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('ok'));
    using pool = new TestPool(upstream.port);
    for (let count = 0; count < 3; count += 1) {
      const { control, events } = sendThrough(pool, { path: '/not', isWanted: () => false });
      await control;
      await sendThrough(pool).response;
      expect(events).toStrictEqual(['start']);
    }
    expect(upstream.connections.length).toBeLessThanOrEqual(2);
    expect(upstream.requests.map(({ message }) => message.url)).toStrictEqual(['/', '/', '/']);
  });

  test('closes idle connections at once when it is closed, and others after their responses', async () => {
    await using upstream = await startUpstream(({ url }, response) => {
      if (url === '/idle') response.end('ok');
    });
    using pool = new TestPool(upstream.port);
    const waiting = sendThrough(pool, { path: '/waits' });
    await sendThrough(pool, { path: '/idle' }).response;
    const { response } = await upstream.request(0);
    let isClosed = false;
    const closed = pool.close().then(() => (isClosed = true));
    const idle = upstream.requests.find(({ message }) => message.url === '/idle');
    if (idle !== undefined) await closing(idle.message.socket);
    expect(isClosed).toBe(false);
    response.end('done');
    expect((await waiting.response).body.toString('latin1')).toBe('done');
    await closed;
  });

  test('fails all requests when it is destroyed', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('ok'));
    const pool = new TestPool(upstream.port);
    await sendThrough(pool).response;
    const requests = [sendThrough(pool), sendThrough(pool)];
    pool.destroy();
    for (const { response, events } of requests) {
      await expect(response).rejects.toMatchObject({ code: 'closed' });
      expect(events).toStrictEqual(['error']);
    }
  });

  test('refuses what cannot be written before it connects', async () => {
    await using upstream = await startAnswering(OK);
    using pool = new TestPool(upstream.port);
    expect(() => sendThrough(pool, { path: '/ HTTP/1.1\r\nX: y' })).toThrow('cannot be written');
    await sendThrough(pool).response;
    expect(upstream.connections).toHaveLength(1);
  });
});
