import type { IncomingMessage } from 'node:http';

import { expect, test } from '@jest/globals';

import { startFront } from '../../support/front.ts';
import { RawClient } from '../../support/raw-http.ts';
import { startUpstream } from '../../support/upstream.ts';

const POST = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n';
/** Past the beginning of a body, every part of which is sent by itself. */
const BEGINNING = `20000\r\n${'x'.repeat(0x20000)}\r\n`;
const BEGINNING_LENGTH = 0x20000;
const LAST_CHUNK = '0\r\n\r\n';
const SMALL_CHUNKS = 5_000;

test('chunks that arrive together late in an upload reach the upstream in few parts', async () => {
  let parts = 0;
  let length = 0;
  await using upstream = await startUpstream((message, response) => {
    message.on('data', (part: Buffer) => {
      length += part.length;
      if (length > BEGINNING_LENGTH) parts += 1;
    });
    message.on('end', () => response.end());
  });
  await using front = await startFront({ upstream: upstream.origin });
  await using client = await RawClient.connect(front.port);
  client.send(POST + BEGINNING);
  client.send('1\r\nx\r\n'.repeat(SMALL_CHUNKS) + LAST_CHUNK);
  expect((await client.response()).status).toBe(200);
  expect(length).toBe(BEGINNING_LENGTH + SMALL_CHUNKS);
  expect(parts).toBeLessThan(SMALL_CHUNKS / 10);
});

test('a chunk late in an upload reaches the upstream before the client sends more', async () => {
  let length = 0;
  await using upstream = await startUpstream((message: IncomingMessage, response) => {
    response.writeHead(200).flushHeaders();
    message.on('data', (part: Buffer) => {
      length += part.length;
      if (part.at(-1) === '!'.charCodeAt(0)) response.write(`got ${String(length)};`);
    });
    message.on('end', () => response.end('all'));
  });
  await using front = await startFront({ upstream: upstream.origin });
  await using client = await RawClient.connect(front.port);
  client.send(POST + BEGINNING);
  for (let each = 1; each <= 3; each += 1) {
    client.send('1\r\n!\r\n');
    await client.receives(`got ${String(BEGINNING_LENGTH + each)};`);
  }
  client.send(LAST_CHUNK);
  await client.receives('all');
  expect(length).toBe(BEGINNING_LENGTH + 3);
});
