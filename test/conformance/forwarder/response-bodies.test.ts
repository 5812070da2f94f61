import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import { startFront } from '../../support/front.ts';
import { bytesOf, GET, MEBIBYTE, spelled } from '../../support/forwarder-wire.ts';
import { headerOf, RawClient } from '../../support/raw-http.ts';
import { startUpstream } from '../../support/upstream.ts';

const KIBIBYTE = 1024;

/** Splits bytes after each of some positions. */
function split(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...positions, bytes.length];
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

interface Received {
  readonly body: Buffer;
  readonly message: IncomingMessage;
}

/** Receives a response by Node's client, which refuses wrong chunks. */
async function receive(port: number, path = '/'): Promise<Received> {
  const request = httpRequest({ port, host: '127.0.0.1', path }).end();
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  return { body: Buffer.concat(await message.toArray()), message };
}

describe('The bytes of a body', () => {
  const lengths = [1, 255, 12 * KIBIBYTE, 12 * KIBIBYTE + 1, 64 * KIBIBYTE, 300 * KIBIBYTE + 7];

  test.each(lengths)('%d of known length arrive unchanged', async (length) => {
    const bytes = bytesOf(length);
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': length }).end(bytes);
    });
    await using front = await startFront({ upstream: upstream.origin });
    const { body, message } = await receive(front.port);
    expect(body.equals(bytes)).toBe(true);
    expect(message.headers['content-length']).toBe(String(length));
    expect(await front.forwarded(0)).toMatchObject({ ended: 'complete', bytes: length });
  });

  test.each(lengths)('%d in one chunk arrive unchanged', async (length) => {
    const bytes = bytesOf(length);
    await using upstream = await startUpstream((_message, response) => {
      response.write(bytes);
      response.end();
    });
    await using front = await startFront({ upstream: upstream.origin });
    const { body, message } = await receive(front.port);
    expect(body.equals(bytes)).toBe(true);
    expect(message.headers['transfer-encoding']).toBe('chunked');
    expect(await front.forwarded(0)).toMatchObject({ ended: 'complete', bytes: length });
  });

  test('arrive unchanged in chunks of many lengths, one after the other', async () => {
    const bytes = bytesOf(100 * KIBIBYTE);
    const parts = split(bytes, [1, 2, 18, 1000, 14_000, 14_001, 60_000, 90_000]);
    await using upstream = await startUpstream((_message, response) => {
      const send = async (): Promise<void> => {
        for (const part of parts) {
          response.write(part);
          await nextTurn();
        }
        response.end();
      };
      void send();
    });
    await using front = await startFront({ upstream: upstream.origin });
    expect((await receive(front.port)).body.equals(bytes)).toBe(true);
  });

  test.each([5, 20 * KIBIBYTE])('%d come before the trailers', async (length) => {
    const text = 'x'.repeat(length);
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { trailer: 'X-Sum' });
      response.write(text);
      response.addTrailers([['X-Sum', '1']]);
      response.end();
    });
    await using front = await startFront({ upstream: upstream.origin });
    const { body, message } = await receive(front.port);
    expect(body.toString()).toBe(text);
    expect(message.rawTrailers).toStrictEqual([spelled('X-Sum'), '1']);
  });

  test.each([5, 20 * KIBIBYTE])(
    '%d come without chunks to a client of HTTP/1.0',
    async (length) => {
      const text = 'x'.repeat(length);
      await using upstream = await startUpstream((_message, response) => {
        response.write(text);
        response.end();
      });
      await using front = await startFront({ upstream: upstream.origin });
      await using client = await RawClient.connect(front.port);
      client.send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
      expect(await client.closed).toBe('ended');
      const response = await client.response();
      expect(headerOf(response, 'transfer-encoding')).toBeUndefined();
      expect(response.body).toBe(text);
    },
  );

  test.each(['length', 'chunks'])(
    'arrive unchanged at clients that read late, with the %s of the upstream',
    async (framing) => {
      const lengths = Array.from({ length: 16 }, (_each, at) => 2 * MEBIBYTE + at * 300_000);
      const bytesFor = (url = ''): Buffer => {
        const length = Number(url.slice(1));
        return Buffer.alloc(length, bytesOf(length % 9973));
      };
      await using upstream = await startUpstream(({ url }, response) => {
        const bytes = bytesFor(url);
        if (framing === 'length') response.setHeader('content-length', bytes.length);
        for (const part of split(bytes, [70_000, MEBIBYTE])) response.write(part);
        response.end();
      });
      await using front = await startFront({ upstream: upstream.origin });
      const late = await Promise.all(
        lengths.map(async (length) => {
          const request = httpRequest({
            port: front.port,
            host: '127.0.0.1',
            path: `/${String(length)}`,
          });
          const [message] = (await once(request.end(), 'response')) as [IncomingMessage];
          return { length, message };
        }),
      );
      // Others use the connections, and the memory, that are free by now.
      for (let again = 0; again < 8; again += 1) await receive(front.port, '/200000');
      for (const { length, message } of late) {
        const body = Buffer.concat(await message.toArray());
        expect(body.equals(bytesFor(`/${String(length)}`))).toBe(true);
      }
    },
  );

  test('end where they end, so that the connection can be used again', async () => {
    await using upstream = await startUpstream((message, response) => {
      if (message.method === 'GET') response.write('in chunks');
      response.end();
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).body).toBe('in chunks');
    client.send('HEAD /x HTTP/1.1\r\nHost: app.test\r\n\r\n');
    expect((await client.response({ toHead: true })).body).toBe('');
    client.send(GET);
    expect((await client.response()).body).toBe('in chunks');
    expect(client.received).toBe('');
  });
});
