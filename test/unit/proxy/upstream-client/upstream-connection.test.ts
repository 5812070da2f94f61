import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import type { StreamedBody } from '../../../../proxy/upstream-client/outgoing-request.ts';
import { bytesOf, closing, MEBIBYTE, standstill } from '../../../support/forwarder-wire.ts';
import { sendThrough, TestPool } from '../../../support/pool-request.ts';
import { startRawUpstream, startUpstream, type RawUpstream } from '../../../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A raw upstream, and everything that it received. */
async function startListening(): Promise<RawUpstream & { received(): string }> {
  let received = '';
  const upstream = await startRawUpstream((socket) =>
    socket.on('data', (data) => (received += data.toString('latin1'))),
  );
  return { ...upstream, received: () => received };
}

/** A source that ends when the test says so. */
function openSource(): Readable {
  return new Readable({ read: () => undefined });
}

function streamed(body: StreamedBody): { method: string; body: StreamedBody } {
  return { method: 'POST', body };
}

describe('A request', () => {
  test.each([0, 1, 1_000, 16 * 1024, 16 * 1024 + 1, 100_000, 3 * MEBIBYTE])(
    'with a body of %d bytes arrives unchanged',
    async (length) => {
      const sent = bytesOf(length);
      await using upstream = await startUpstream((message, response) => message.pipe(response));
      using pool = new TestPool(upstream.port);
      const headers = ['X-Latin', 'caf\xe9'];
      const { body } = await sendThrough(pool, { method: 'POST', headers, body: sent }).response;
      expect(body.equals(sent)).toBe(true);
      const fields = upstream.requests[0]?.message.headers;
      expect(fields).toMatchObject({ 'content-length': String(length), 'x-latin': 'caf\xe9' });
    },
  );

  test('that is streamed without a length is sent in chunks with its trailers', async () => {
    await using upstream = await startUpstream((message, response) => {
      let body = '';
      message.on('data', (part: Buffer) => (body += part.toString('latin1')));
      message.on('end', () => response.end(JSON.stringify([body, message.rawTrailers])));
    });
    using pool = new TestPool(upstream.port);
    const body = {
      source: Readable.from([Buffer.from('one'), Buffer.alloc(0), Buffer.from('two')]),
      trailers: { announced: 'X-Sum', read: () => [['X-Sum', '1'] as const] },
    };
    const response = await sendThrough(pool, streamed(body)).response;
    expect(JSON.parse(response.body.toString())).toStrictEqual(['onetwo', ['X-Sum', '1']]);
  });

  test.each<[string, number, string[]]>([
    ['longer', 4, ['body', 'GET /smuggled HTTP/1.1\r\n\r\n']],
    ['longer within one part', 4, ['bodyGET /smuggled HTTP/1.1\r\n\r\n']],
    ['shorter', 100, ['body']],
  ])('whose body is %s than announced is cut off', async (_what, length, parts) => {
    await using upstream = await startListening();
    using pool = new TestPool(upstream.port);
    const source = Readable.from(parts.map((part) => Buffer.from(part)));
    const { response } = sendThrough(pool, streamed({ source, length }));
    await expect(response).rejects.toMatchObject({ code: 'wrong-length' });
    const [socket] = upstream.connections;
    if (socket !== undefined) await closing(socket);
    expect(upstream.received()).not.toContain('smuggled');
  });

  test('whose trailers cannot be written is cut off before its end', async () => {
    await using upstream = await startListening();
    using pool = new TestPool(upstream.port);
    const source = Readable.from([Buffer.from('body')]);
    const trailers = { announced: 'X-A', read: () => [['X-A', 'a\r\n\r\nGET /'] as const] };
    const { response } = sendThrough(pool, streamed({ source, trailers }));
    await expect(response).rejects.toMatchObject({ code: 'invalid-request' });
    const [socket] = upstream.connections;
    if (socket !== undefined) await closing(socket);
    expect(upstream.received()).toMatch(/body\r\n$/);
  });

  test('whose source breaks off is cut off', async () => {
    await using upstream = await startListening();
    using pool = new TestPool(upstream.port);
    const source = openSource();
    const { response, control } = sendThrough(pool, streamed({ source }));
    await control;
    source.push('part');
    source.destroy();
    await expect(response).rejects.toThrow('the client left');
    const [socket] = upstream.connections;
    if (socket !== undefined) await closing(socket);
    expect(upstream.received()).not.toContain('\r\n0\r\n');
  });

  test('whose source has broken off already is not sent whole', async () => {
    await using upstream = await startListening();
    using pool = new TestPool(upstream.port);
    const source = openSource();
    source.destroy();
    const { response } = sendThrough(pool, streamed({ source }));
    await expect(response).rejects.toThrow('the client left');
  });

  test('that gets its whole response early is not sent further, and its source is read to the end', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.write(OK));
    });
    using pool = new TestPool(upstream.port);
    const source = openSource();
    const { response } = sendThrough(pool, streamed({ source }));
    source.push('part');
    expect((await response).status).toBe(200);
    const [socket] = upstream.connections;
    if (socket !== undefined) await closing(socket);
    source.push('rest');
    source.push(null);
    await once(source, 'end');
    await sendThrough(pool).response;
    expect(upstream.connections).toHaveLength(2);
  });
});

describe('A response', () => {
  test('that is large arrives unchanged, and its parts may be kept', async () => {
    const sent = Buffer.alloc(20 * MEBIBYTE);
    for (let at = 0; at < sent.length; at += 4) sent.writeUInt32LE(at, at);
    await using upstream = await startUpstream((_message, response) => response.end(sent));
    using pool = new TestPool(upstream.port);
    const all = await Promise.all([1, 2, 3].map(() => sendThrough(pool).response));
    for (const { body } of all) expect(body.equals(sent)).toBe(true);
  });

  test('that is read while others are read is not mixed with them', async () => {
    await using upstream = await startUpstream(({ url = '' }, response) => {
      let rest = 200;
      const more = (): void => {
        rest -= 1;
        if (rest === 0) response.end();
        else response.write(url.repeat(1 + (rest % 97)), () => setImmediate(more));
      };
      more();
    });
    using pool = new TestPool(upstream.port);
    const paths = Array.from({ length: 20 }, (_, index) => `/${String.fromCharCode(97 + index)}`);
    const all = await Promise.all(paths.map((path) => sendThrough(pool, { path }).response));
    for (const [index, { body }] of all.entries()) {
      expect(new Set(body.toString('latin1').split('/').slice(1))).toStrictEqual(
        new Set([paths[index]?.slice(1)]),
      );
    }
  });

  test('that is paused stays at the upstream, and goes on when it is resumed', async () => {
    const chunk = Buffer.alloc(MEBIBYTE);
    let written = 0;
    await using upstream = await startUpstream((_message, response) => {
      const more = (): void => {
        while (written < 64) {
          written += 1;
          if (!response.write(chunk)) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    using pool = new TestPool(upstream.port);
    const { response, control } = sendThrough(pool);
    const given = await control;
    given.pause();
    expect(await standstill(() => written)).toBeLessThan(40);
    given.resume();
    expect((await response).body).toHaveLength(64 * MEBIBYTE);
  });

  test('that is aborted closes its connection, and nothing more of it is reported', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.write(OK.replace('2', '100')));
    });
    using pool = new TestPool(upstream.port);
    const { control, events } = sendThrough(pool);
    const given = await control;
    await turn();
    given.abort();
    const [socket] = upstream.connections;
    if (socket !== undefined) await closing(socket);
    expect(events.filter((event) => event === 'end' || event === 'error')).toStrictEqual([]);
  });

  test.each<[string, string | undefined, string]>([
    ['before its first byte', undefined, 'connection-lost'],
    ['within its head', 'HTTP/1.1 2', 'cut-head'],
    ['after an informational one', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'cut-head'],
    ['within its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart', 'cut-body'],
  ])('that ends %s fails', async (_when, bytes, code) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => (bytes === undefined ? socket.end() : socket.end(bytes)));
    });
    using pool = new TestPool(upstream.port);
    await expect(sendThrough(pool).response).rejects.toMatchObject({ code });
  });

  test.each<[string, string | undefined, string]>([
    ['before its first byte', undefined, 'connection-lost'],
    ['within its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart', 'response-cut'],
    ['within a body without length', 'HTTP/1.1 200 OK\r\n\r\npart', 'response-cut'],
  ])('whose connection is reset %s fails', async (_when, bytes, code) => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => {
        if (bytes === undefined) socket.resetAndDestroy();
        else socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 5));
      });
    });
    using pool = new TestPool(upstream.port);
    await expect(sendThrough(pool).response).rejects.toMatchObject({ code });
  });

  test('that does not begin in time fails', async () => {
    await using upstream = await startListening();
    using pool = new TestPool(upstream.port);
    const { response } = sendThrough(pool, { responseTimeoutMs: 20 });
    await expect(response).rejects.toMatchObject({ code: 'response-timeout' });
  });

  test('has its time from the end of the request', async () => {
    await using upstream = await startUpstream((message, response) => {
      message.resume().on('end', () => setTimeout(() => response.end('ok'), 5));
    });
    using pool = new TestPool(upstream.port);
    const source = openSource();
    const request = sendThrough(pool, { ...streamed({ source }), responseTimeoutMs: 250 });
    source.push('part');
    setTimeout(() => source.push(null), 500);
    expect((await request.response).status).toBe(200);
  });

  test('may take longer than its time once it has begun', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.write('begin');
      setTimeout(() => response.end(), 300);
    });
    using pool = new TestPool(upstream.port);
    const { response } = sendThrough(pool, { responseTimeoutMs: 100 });
    expect((await response).body.toString()).toBe('begin');
  });

  test('fails without a connection', async () => {
    const upstream = await startListening();
    await upstream[Symbol.asyncDispose]();
    using pool = new TestPool(upstream.port);
    const { response, events } = sendThrough(pool);
    await expect(response).rejects.toMatchObject({ code: 'no-connection' });
    expect(events).toStrictEqual(['error']);
  });

  test('fails if the name of the upstream does not exist', async () => {
    using pool = new TestPool(80, { host: 'nowhere.invalid' });
    await expect(sendThrough(pool).response).rejects.toMatchObject({ code: 'connect-failed' });
  });
});
