import { EventEmitter } from 'node:events';

import { expect, test } from '@jest/globals';

import { GatheredBytes } from '../../../../proxy/http/gathered-bytes.ts';
import { readBody } from '../../../../proxy/http/read-body.ts';
import type { RequestMessage } from '../../../../proxy/http/request-message.ts';

test('the only part is not copied', () => {
  const part = Buffer.from('whole');
  const gathered = new GatheredBytes();
  gathered.add(part);
  expect(gathered.bytes().buffer).toBe(part.buffer);
  expect(gathered.bytes()).toEqual(part);
});

test('no parts are an empty body', () => {
  expect(new GatheredBytes().bytes()).toEqual(Buffer.alloc(0));
});

test('parts of every length are gathered in order', () => {
  const parts = Array.from({ length: 300 }, (_, index) => Buffer.alloc(index % 7, index));
  const gathered = new GatheredBytes();
  for (const part of parts) gathered.add(part);
  expect(gathered.bytes()).toEqual(Buffer.concat(parts));
  expect(gathered).toHaveLength(897);
});

// Attack: twenty bodies of 64 KiB in chunks of one byte took half a gigabyte.
test('a body in chunks of one byte keeps none of its chunks', async () => {
  const message = Object.assign(new EventEmitter(), { headers: {}, destroyed: false });
  // Only what `readBody` reads of a message.
  const reading = readBody(message as unknown as RequestMessage, 100);
  message.emit('data', Buffer.from('a'));
  const chunk = Buffer.alloc(1);
  for (const letter of 'bcdefg') {
    chunk.write(letter);
    message.emit('data', chunk);
  }
  message.emit('end');
  // Chunks that were kept would all be the last one.
  expect((await reading).toString()).toBe('abcdefg');
});
