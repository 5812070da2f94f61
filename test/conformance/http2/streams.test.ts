import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { constants } from 'node:http2';

import { describe, expect, test } from '@jest/globals';

import { ClientGoneError } from '../../../proxy/errors/request-errors.ts';
import { UpstreamUnreachableError } from '../../../proxy/errors/upstream-errors.ts';
import { answerOk, MEBIBYTE, silent, standstill } from '../../support/forwarder-wire.ts';
import {
  CANCEL,
  DATA,
  END_STREAM,
  FrameClient,
  GET_FIELDS,
  HEADERS,
  NO_ERROR,
  POST_FIELDS,
  RST_STREAM,
  WINDOW_UPDATE,
  uint32,
} from '../../support/http2/frame-client.ts';
import { Http2Client, statusOn } from '../../support/http2/http2-client.ts';
import { startHttp2Front } from '../../support/http2/http2-front.ts';
import { startRawUpstream, startUpstream } from '../../support/upstream.ts';

/** SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113, section 6.5.2). */
const INITIAL_WINDOW = 4;

describe('A stream that its client resets', () => {
  test('is aborted at the upstream, and other streams of the connection go on', async () => {
    await using upstream = await startUpstream(({ url }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      if (url === '/other') setImmediate(() => response.write('data: 2\n\n'));
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    const stream = client.open();
    await once(
      stream.on('data', () => undefined),
      'data',
    );
    const other = client.open({ ':path': '/other' });
    await once(
      other.on('data', () => undefined),
      'data',
    );
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await (await upstream.request(0)).finished).toBe(false);
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    const { response } = await upstream.request(1);
    response.end('data: 3\n\n');
    await once(other, 'end');
    expect(await front.outcome(1)).toBeUndefined();
  });

  test.each([CANCEL, NO_ERROR])(
    'with the code %d within its body is no whole request for the upstream',
    async (code) => {
      await using upstream = await startUpstream(silent);
      await using front = await startHttp2Front({ upstream: upstream.origin });
      await using client = await FrameClient.connect(front.port);
      client.headers(1, [...POST_FIELDS, ['content-length', '100000']], 0);
      client.headers(3, POST_FIELDS, 0);
      for (const stream of [1, 3]) client.send(DATA, 0, stream, 'start');
      await upstream.request(1);
      for (const stream of [1, 3]) client.reset(stream, code);
      for (const index of [0, 1]) {
        const { message, finished } = await upstream.request(index);
        expect(await finished).toBe(false);
        expect(message.complete).toBe(false);
        expect(await front.outcome(index)).toBeInstanceOf(ClientGoneError);
      }
    },
  );

  test('is not forwarded if that happens before', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startHttp2Front({
      upstream: upstream.origin,
      authorize: (_request, exchange) => {
        return new Promise((resolve) => void exchange.once('close', () => resolve()));
      },
    });
    await using client = new Http2Client(front.port);
    const stream = client.open();
    await once(stream, 'ready');
    setImmediate(() => stream.close(constants.NGHTTP2_CANCEL));
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('An upstream that disconnects within its response', () => {
  test.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n'],
  ])('has the stream reset after the part that arrived: %s', async (_how, bytes) => {
    await using upstream = await startRawUpstream((socket) => socket.write(bytes));
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, GET_FIELDS);
    await client.receives(({ payload }) => payload.toString() === 'part');
    upstream.connections[0]?.destroy();
    await client.receives(({ type }) => type === RST_STREAM);
    const data = client.frames.filter(({ stream, type }) => stream === 1 && type === DATA);
    expect(data.every(({ flags }) => (flags & END_STREAM) === 0)).toBe(true);
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
    await client.settled();
  });

  test('has what arrived with its end sent before the reset', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart');
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, GET_FIELDS);
    await client.receives(({ type }) => type === RST_STREAM);
    expect(client.frames.map(({ payload }) => payload.toString())).toContain('part');
  });
});

describe('A body', () => {
  test('that the upstream does not read stays with the client', async () => {
    await using upstream = await startUpstream((message) => message.pause());
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    const size = 60 * MEBIBYTE;
    const stream = client.open({ ':method': 'POST', 'content-length': size }, true);
    for (let sent = 0; sent < size; sent += MEBIBYTE) stream.write(Buffer.alloc(MEBIBYTE));
    stream.end();
    const taken = await standstill(() => size - stream.writableLength);
    expect(taken).toBeLessThan(20 * MEBIBYTE);
    const { message, response } = await upstream.request(0);
    message.resume().on('end', () => response.end('ok'));
    expect(await statusOn(stream)).toBe(200);
  });

  test('of one stream that is not read leaves room for those of others', async () => {
    await using upstream = await startUpstream((message, response) => {
      if (message.url === '/unread') message.pause();
      else message.resume().on('end', () => response.end('ok'));
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    for (let number = 0; number < 5; number += 1) {
      client.open({ ':method': 'POST', ':path': '/unread' }, true).write(Buffer.alloc(MEBIBYTE));
    }
    const { status } = await client.send({ ':method': 'POST' }, Buffer.alloc(3 * MEBIBYTE));
    expect(status).toBe(200);
  });

  test('in frames of one byte arrives unchanged, also if it waits for the upstream', async () => {
    await using upstream = await startUpstream((message) => message.pause());
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, [...POST_FIELDS, ['content-length', '70000']], 0);
    const { message, response } = await upstream.request(0);
    for (let at = 0; at < 70_000; at += 1) {
      client.send(DATA, at === 69_999 ? END_STREAM : 0, 1, String(at % 10));
    }
    await client.settled();
    const body = Buffer.concat(await message.toArray()).toString();
    response.end('ok');
    expect(body).toBe('0123456789'.repeat(7_000));
    expect(await client.outcome(1)).toStrictEqual({ status: 200 });
  });

  test('whose response comes early is not asked for to its end', async () => {
    await using upstream = await startUpstream((message, response) => {
      message.once('data', () => response.writeHead(413).end('too large'));
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, [...POST_FIELDS, ['content-length', String(MEBIBYTE)]], 0);
    client.send(DATA, 0, 1, 'start');
    const reset = await client.receives(({ type }) => type === RST_STREAM);
    expect(reset.payload.readUInt32BE(0)).toBe(NO_ERROR);
    expect(await client.outcome(1)).toStrictEqual({ status: 413 });
    expect(client.frames.some(({ flags, type }) => type === DATA && flags === END_STREAM)).toBe(
      true,
    );
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('that stalls gets 408 in place of a response', async () => {
    await using upstream = await startUpstream(answerOk);
    const limits = { bodyStallMs: 50 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, [...POST_FIELDS, ['content-length', '100']], 0);
    client.send(DATA, 0, 1, 'start');
    expect(await client.outcome(1)).toStrictEqual({ status: 408 });
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    await client.settled();
  });
});

describe('A response', () => {
  test('that its client does not take stays at the upstream, and arrives whole later', async () => {
    const size = 60 * MEBIBYTE;
    let written = 0;
    await using upstream = await startUpstream((_message, response) => {
      const pump = (): void => {
        while (written < size) {
          written += MEBIBYTE;
          if (!response.write(Buffer.alloc(MEBIBYTE, 'x'))) {
            response.once('drain', pump);
            return;
          }
        }
        response.end();
      };
      pump();
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    const stream = client.open();
    expect(await statusOn(stream)).toBe(200);
    expect(await standstill(() => written)).toBeLessThan(20 * MEBIBYTE);
    let received = 0;
    for await (const part of stream) received += (part as Buffer).length;
    expect(received).toBe(size);
  });

  test('that its client never takes is given up', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.write('x'.repeat(MEBIBYTE));
    });
    const limits = { bodyStallMs: 20 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client = await FrameClient.connect(front.port, [[INITIAL_WINDOW, 0]]);
    client.headers(1, GET_FIELDS);
    expect(await (await upstream.request(0)).finished).toBe(false);
    await client.receives(({ type }) => type === RST_STREAM);
  });

  test('that its client takes slowly is not given up', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.end('x'.repeat(20));
    });
    const limits = { bodyStallMs: 5 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client = await FrameClient.connect(front.port, [[INITIAL_WINDOW, 0]]);
    client.headers(1, GET_FIELDS);
    await client.receives(({ type }) => type === HEADERS);
    client.send(WINDOW_UPDATE, 0, 1, uint32(20));
    await client.receives(({ type, flags }) => type === DATA && flags === END_STREAM);
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('has its trailers, if they were announced', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { trailer: 'X-Sum' });
      response.write('body');
      response.addTrailers([['X-Sum', '1']]);
      response.end();
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    const answer = await client.send();
    expect(answer).toMatchObject({ status: 200, trailers: { 'x-sum': '1' }, code: 0 });
    expect(answer.body.toString()).toBe('body');
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('with a status that HTTP/2 cannot express is replaced by 502', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n');
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    expect(await client.send()).toMatchObject({ status: 502 });
  });
});

test('a hundred event streams on one connection each get their events', async () => {
  await using upstream = await startUpstream((_message, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
  await using front = await startHttp2Front({ upstream: upstream.origin });
  await using client = new Http2Client(front.port);
  const streams = Array.from({ length: 100 }, (_each, at) =>
    client.open({ ':path': `/${String(at)}` }).setEncoding('utf8'),
  );
  await Promise.all(streams.map((stream) => statusOn(stream)));
  for (const { response, message } of upstream.requests) {
    for (const event of ['a', 'b']) response.write(`data: ${message.url ?? ''} ${event}\n\n`);
    response.end();
  }
  const bodies = await Promise.all(
    streams.map(async (stream) => (await stream.toArray()).join('')),
  );
  expect(bodies).toStrictEqual(
    bodies.map((_body, at) => `data: /${String(at)} a\n\ndata: /${String(at)} b\n\n`),
  );
});
