import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import { describe, expect, test } from '@jest/globals';

import { distrust } from '../../../../proxy/http/distrust.ts';
import { eventually } from '../../../support/eventually.ts';
import { startListener } from '../../../support/listener.ts';
import { headerOf, RawClient } from '../../../support/raw-http.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** The first, and those that may wait for it. */
const SERVED = 17;

/** Node reads 64 KiB at a time. */
const REQUESTS_IN_ONE_READ = Math.ceil((64 * 1024) / GET.length);

/** Counts the requests that Node parses while a function runs. */
async function parsedDuring(run: () => Promise<void>): Promise<number> {
  let parsed = 0;
  const count = (): void => {
    parsed += 1;
  };
  subscribe('http.server.request.start', count);
  await run();
  unsubscribe('http.server.request.start', count);
  return parsed;
}

describe('Requests that are pipelined on one connection', () => {
  test('are served one after the other', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(GET.repeat(3));
    for (const body of ['first', 'second', 'third']) {
      const [, response] = await listener.next();
      expect(listener.waiting).toBe(0);
      response.end(body);
      expect((await client.response()).body).toBe(body);
    }
  });

  // Attack: one connection had thousands of connections to an upstream, past the bounds of connections.
  test('end their connection after those that may wait', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(GET.repeat(10 * SERVED));
    for (let served = 1; served <= SERVED; served += 1) {
      const [, response] = await listener.next();
      response.end(String(served));
      const received = await client.response();
      expect(received.body).toBe(String(served));
      expect(headerOf(received, 'connection')).toBe(served === SERVED ? 'close' : 'keep-alive');
    }
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
    expect(listener.waiting).toBe(0);
  });

  // Attack: the body would be kept as it arrives, and 64 KiB in chunks of one byte took 27 MB.
  test('end their connection before one with a body', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(
      `${GET}${GET}POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 1\r\n\r\na${GET}`,
    );
    for (const body of ['first', 'second']) {
      (await listener.next())[1].end(body);
      expect((await client.response()).body).toBe(body);
    }
    expect(await client.closed).toBe('ended');
    expect(client.received).toBe('');
    expect(listener.waiting).toBe(0);
  });

  test('are not served after their client has left', async () => {
    await using listener = await startListener();
    const client = await RawClient.connect(listener.port);
    client.send(GET.repeat(3));
    const [, response] = await listener.next();
    await client[Symbol.asyncDispose]();
    await eventually('the connection is gone', () => listener.connections() === 0);
    expect(response.destroyed).toBe(true);
    expect(listener.waiting).toBe(0);
  });

  test.each([
    ['the handshake of a WebSocket', UPGRADE],
    ['a request for a tunnel', 'CONNECT app.test:443 HTTP/1.1\r\nHost: app.test:443\r\n\r\n'],
  ])('are not answered by %s that follows them', async (_what, request) => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    client.send(GET + request);
    await client.closed;
    expect(client.received).toBe('');
  });
});

// Attack: Node keeps what is parsed, and 4 MB behind a refused request stalled a process for 48 seconds.
describe('Requests that are not served any longer', () => {
  test('are not parsed behind a refused request', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    const parsed = await parsedDuring(async () => {
      client.send(GET);
      const [message, response] = await listener.next();
      distrust(message);
      response.end('refused');
      client.send(GET.repeat(20 * REQUESTS_IN_ONE_READ));
      expect((await client.response()).body).toBe('refused');
      expect(await client.closed).toBe('ended');
    });
    expect(parsed).toBeLessThanOrEqual(2 + REQUESTS_IN_ONE_READ);
    expect(listener.waiting).toBe(0);
  });

  test('are not parsed behind more requests than may wait', async () => {
    await using listener = await startListener();
    await using client = await RawClient.connect(listener.port);
    const flood = GET.repeat(20 * REQUESTS_IN_ONE_READ);
    const parsed = await parsedDuring(async () => {
      client.send(flood);
      const [, first] = await listener.next();
      await eventually('all is read', () => first.socket?.bytesRead === flood.length);
      first.end('first');
      for (let served = 2; served <= SERVED; served += 1) (await listener.next())[1].end();
      expect(await client.closed).toBe('ended');
    });
    expect(parsed).toBeLessThanOrEqual(2 + REQUESTS_IN_ONE_READ);
  });
});
