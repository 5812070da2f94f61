import { describe, expect, test } from '@jest/globals';

import { startFront } from '../../support/front.ts';
import { RawClient } from '../../support/raw-http.ts';
import { startRawUpstream, startUpstream } from '../../support/upstream.ts';
import { GET, POST, CHUNKED_POST, silent, answerOk } from '../../support/forwarder-wire.ts';

describe('The connections to upstreams', () => {
  test('a connection is used again', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    for (const bytes of [GET, POST, GET]) {
      client.send(bytes);
      expect((await client.response()).body).toBe('ok');
    }
    expect(upstream.connections).toHaveLength(1);
  });

  test.each<[string, string, buffers: boolean, status: number]>([
    ['GET', GET, false, 200],
    ['PUT whose body was read already', POST.replace('POST', 'PUT'), true, 200],
    ['PUT with a short body', POST.replace('POST', 'PUT'), false, 200],
    ['PUT with a body that was streamed', CHUNKED_POST.replace('POST', 'PUT'), false, 502],
    ['POST', POST, true, 502],
  ])(
    'a %s succeeds if its kept connection was just closed',
    async (_what, bytes, buffers, status) => {
      const seen: string[] = [];
      await using upstream = await startRawUpstream((socket, index) => {
        let requests = 0;
        socket.on('data', (data) => {
          const [head] = /^[A-Z]+ (?=\/)/.exec(data.toString()) ?? [];
          if (head === undefined) return;
          requests += 1;
          seen.push(`${String(index)}: ${head.trim()}`);
          if (index === 0 && requests === 2) socket.destroy();
          else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        });
      });
      await using front = await startFront({ upstream: upstream.origin, buffers });
      await using client = await RawClient.connect(front.port);
      client.send(GET);
      expect((await client.response()).status).toBe(200);
      client.send(bytes);
      expect((await client.response()).status).toBe(status);
      const method = bytes.slice(0, bytes.indexOf(' '));
      expect(seen).toStrictEqual([
        '0: GET',
        `0: ${method}`,
        ...(status === 200 ? [`1: ${method}`] : []),
      ]);
    },
  );

  test('a request is sent at most twice if its connections are closed', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.destroy());
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
    expect(upstream.connections).toHaveLength(2);
  });

  test('a request is answered with 502 if no connection can be made', async () => {
    const upstream = await startUpstream(answerOk);
    await upstream[Symbol.asyncDispose]();
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    for (const bytes of [GET, POST]) {
      client.send(bytes);
      expect((await client.response()).status).toBe(502);
    }
  });

  test('a request is answered with 504 and its connection closed if no response comes in time', async () => {
    await using upstream = await startUpstream(silent);
    const route = { responseTimeoutMs: 50 };
    await using front = await startFront({ upstream: upstream.origin, route });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(504);
    expect(await (await upstream.request(0)).finished).toBe(false);
  });

  test('a connection is closed once no route leads to it and it is not in use', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const { response } = await upstream.request(0);
    const retained = front.pools.retain(new Set());
    response.end('ok');
    expect((await client.response()).body).toBe('ok');
    await retained;
    expect(upstream.connections.map(({ destroyed }) => destroyed)).not.toContain(undefined);
    client.send(GET);
    (await upstream.request(1)).response.end('again');
    expect((await client.response()).body).toBe('again');
    expect(upstream.connections).toHaveLength(2);
  });
});
