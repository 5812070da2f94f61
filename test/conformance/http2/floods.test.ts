import { Buffer } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import { fieldBlock } from '../../support/http2/field-block.ts';
import {
  CANCEL,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FrameClient,
  GET_FIELDS,
  HEADERS,
  PING,
  POST_FIELDS,
  PRIORITY,
  SETTINGS,
} from '../../support/http2/frame-client.ts';
import { startHttp2Front } from '../../support/http2/http2-front.ts';
import { answerOk, silent } from '../../support/forwarder-wire.ts';
import { startUpstream } from '../../support/upstream.ts';

const REFUSED_STREAM = 7;

/** More than any limit allows. */
const FRAMES = 30_000;
/** What leaves before the gateway's answers are read. */
const RUN = 50;

/** Sends frames until the connection is closed. */
async function flood(client: FrameClient, send: (number: number) => void): Promise<void> {
  for (let number = 0; number < FRAMES && client.socket.writable; number += 1) {
    send(number);
    if (number % RUN === 0) await nextTurn();
  }
  await client.closed;
}

describe('A flood ends the connection', () => {
  test.each<[string, (client: FrameClient, number: number) => void]>([
    ['of pings', (client) => client.send(PING, 0, 0, '12345678')],
    ['of settings', (client) => client.send(SETTINGS, 0, 0)],
    ['of priorities', (client) => client.send(PRIORITY, 0, 1, '12345')],
    [
      'of empty frames in a body',
      (client, number) => {
        if (number === 0) client.headers(1, POST_FIELDS, 0);
        else client.send(DATA, 0, 1);
      },
    ],
    [
      'of continued fields',
      (client, number) => {
        if (number === 0) client.send(HEADERS, END_STREAM, 1, fieldBlock(GET_FIELDS));
        else client.send(CONTINUATION, 0, 1, fieldBlock([['x', 'y']]));
      },
    ],
    [
      'of requests that are malformed',
      (client, number) => client.headers(2 * number + 1, [...GET_FIELDS, ['te', 'gzip']]),
    ],
  ])('%s', async (_what, send) => {
    await using upstream = await startUpstream(silent);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    await flood(client, (number) => send(client, number));
    expect(upstream.requests.length).toBeLessThan(2);
    await using other = await FrameClient.connect(front.port);
    await other.settled();
  });

  // CVE-2023-44487.
  test('of requests that are reset at once, of which none reaches the upstream', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    await flood(client, (number) => {
      client.socket.cork();
      client.headers(2 * number + 1, GET_FIELDS);
      client.reset(2 * number + 1, CANCEL);
      client.socket.uncork();
    });
    expect(upstream.requests.length).toBeLessThan(50);
    expect(front.refused).toStrictEqual([400]);
  });
});

test('a client has a hundred streams at once, and the next is refused before it is served', async () => {
  await using upstream = await startUpstream(silent);
  await using front = await startHttp2Front({ upstream: upstream.origin });
  // It acknowledges no settings, so that it need not know the limit.
  await using client = await FrameClient.connectSilently(front.port);
  client.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  client.send(SETTINGS, 0, 0);
  for (let number = 0; number <= 100; number += 1) client.headers(2 * number + 1, GET_FIELDS);
  expect(await client.outcome(201)).toStrictEqual({ reset: REFUSED_STREAM });
  await upstream.request(99);
  expect(upstream.requests).toHaveLength(100);
});

// Attack: a field of the dynamic table takes one byte each time it is repeated.
test('a head that is small on the wire and long when it is read is refused', async () => {
  await using upstream = await startUpstream(answerOk);
  await using front = await startHttp2Front({ upstream: upstream.origin });
  await using client = await FrameClient.connect(front.port);
  const indexed = fieldBlock([['x', 'y'.repeat(4_000)]]);
  // RFC 7541, section 6.2.1: with this bit the field has a place in the table, which is number 62.
  indexed[0] = 0x40;
  const references = Buffer.alloc(900, 0x80 | 62);
  const block = Buffer.concat([fieldBlock(GET_FIELDS), indexed, references]);
  client.send(HEADERS, END_HEADERS | END_STREAM, 1, block);
  const outcome = await client.outcome(1);
  expect([{ status: 431 }, { reset: 11 }]).toContainEqual(outcome);
  expect(upstream.requests).toHaveLength(0);
});

test('trailers that are too long do not end a body', async () => {
  await using upstream = await startUpstream(answerOk);
  await using front = await startHttp2Front({ upstream: upstream.origin });
  await using client = await FrameClient.connect(front.port);
  client.headers(1, [...POST_FIELDS, ['trailer', 'x']], 0);
  client.send(DATA, 0, 1, 'body');
  client.headers(1, [
    ['x', 'y'.repeat(8_500)],
    ['x', 'y'.repeat(8_500)],
  ]);
  expect(await client.outcome(1)).not.toHaveProperty('status');
  expect(upstream.requests).toHaveLength(0);
});
