import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { startFront } from '../../support/front.ts';
import { bytesOf, MEBIBYTE } from '../../support/forwarder-wire.ts';
import { startUpstream } from '../../support/upstream.ts';

const BYTES = bytesOf(6 * MEBIBYTE);
const SLOW_AT = [0, MEBIBYTE, 5 * MEBIBYTE];

test.each([{ 'content-length': BYTES.length }, { 'transfer-encoding': 'chunked' }])(
  'an upload with %j arrives unchanged at an upstream that is slow at times',
  async (headers) => {
    await using upstream = await startUpstream((message, response) => {
      const answer = async (): Promise<void> => {
        const hash = createHash('sha256');
        let length = 0;
        for await (const part of message as AsyncIterable<Buffer>) {
          if (SLOW_AT.some((at) => at >= length && at < length + part.length)) await delay(30);
          length += part.length;
          hash.update(part);
        }
        response.end(hash.digest('hex'));
      };
      void answer();
    });
    await using front = await startFront({ upstream: upstream.origin });
    const request = httpRequest({ port: front.port, host: '127.0.0.1', method: 'POST', headers });
    for (let at = 0; at < BYTES.length; at += 100_000)
      request.write(BYTES.subarray(at, at + 100_000));
    request.end();
    const [message] = (await once(request, 'response')) as [IncomingMessage];
    const answer = Buffer.concat(await message.toArray()).toString();
    expect(answer).toBe(createHash('sha256').update(BYTES).digest('hex'));
  },
);
