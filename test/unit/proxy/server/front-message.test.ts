import type { Readable } from 'node:stream';

import { describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { startListener } from '../../../support/listener.ts';
import { RawClient } from '../../../support/raw-http.ts';

const HEAD = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n';
const LAST = '0\r\n\r\n';

/** Bytes in chunks of one byte. */
function oneByteChunks(count: number): { readonly wire: string; readonly content: string } {
  const bytes = Array.from({ length: count }, (_, index) => String(index % 10));
  return { wire: bytes.map((byte) => `1\r\n${byte}\r\n`).join(''), content: bytes.join('') };
}

/** Fewer than are read ahead, in several reads of 64 KiB. */
const FEW = oneByteChunks(30_000);
/** More than are read ahead. */
const MANY = oneByteChunks(300_000);

async function partsOf(stream: Readable): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of stream) parts.push(String(part));
  return parts;
}

// Attack: 64 KiB in chunks of one byte took 30 MB while an upstream read nothing.
describe('A body in chunks of one byte that nobody reads', () => {
  test('is kept in two parts', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(HEAD + FEW.wire + LAST);
    const [message, response] = await listener.next();
    await eventually('all is received', () => message.complete);
    const parts = await partsOf(message);
    expect(parts.join('')).toBe(FEW.content);
    expect(parts).toHaveLength(2);
    response.end();
    expect((await client.response()).status).toBe(200);
  });

  test('is kept in few parts on its way to an upstream that stopped reading', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(HEAD);
    const [body] = await listener.next();
    const parts: string[] = [];
    body.on('data', (part: Buffer) => {
      parts.push(String(part));
      if (parts.length === 1) body.pause();
    });
    client.send(FEW.wire + LAST);
    await eventually('all is received', () => body.complete);
    expect(parts).toHaveLength(1);
    body.resume();
    await eventually('all is read', () => body.readableEnded);
    expect(parts.join('')).toBe(FEW.content);
    expect(parts.length).toBeLessThanOrEqual(4);
  });
});

describe('A body of more than is read ahead', () => {
  test.each<[string, (message: Readable) => Promise<string>]>([
    ['by iteration', async (message) => (await partsOf(message)).join('')],
    [
      'by events, with a pause after each part',
      async (message) => {
        let content = '';
        message.on('data', (part: Buffer) => {
          content += String(part);
          message.pause();
          setImmediate(() => message.resume());
        });
        await eventually('all is read', () => message.readableEnded);
        return content;
      },
    ],
  ])('arrives whole when it is read late (%s)', async (_how, read) => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(HEAD + MANY.wire + LAST);
    const [message, response] = await listener.next();
    await eventually('reading stops', () => message.socket.bytesRead > 64 * 1024 * 6);
    expect(message.complete).toBe(false);
    expect(await read(message)).toBe(MANY.content);
    response.end();
    expect((await client.response()).status).toBe(200);
  });
});
