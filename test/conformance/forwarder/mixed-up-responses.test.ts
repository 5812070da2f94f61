import type { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { startFront, type Front } from '../../support/front.ts';
import { RawClient, type WireResponse } from '../../support/raw-http.ts';
import { startRawUpstream } from '../../support/upstream.ts';

const USERS = 8;
const ROUNDS = 6;

/** What no user may get: the upstream sends it where no response is due. */
const STRAY = respond('stray');

function respond(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

/** Answers each request with its path, and calls `attack` with the response in place of sending it. */
function answerPaths(
  attack: (socket: Socket, response: string, path: string) => void,
): (socket: Socket) => void {
  return (socket) => {
    socket.setNoDelay(true).on('data', (data) => {
      const path = /^GET (\S+) HTTP/.exec(data.toString('latin1'))?.[1];
      if (path !== undefined) attack(socket, respond(path), path);
    });
  };
}

/** Has users send requests at the same time; returns pairs of what each asked for and what it got. */
async function askAll(front: Front): Promise<readonly (readonly [string, WireResponse])[]> {
  const askOne = async (user: number): Promise<(readonly [string, WireResponse])[]> => {
    const seen: (readonly [string, WireResponse])[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await using client = await RawClient.connect(front.port);
      const path = `/user-${String(user)}/${String(round)}`;
      client.send(`GET ${path} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
      seen.push([path, await client.response()]);
    }
    return seen;
  };
  const all = await Promise.all(Array.from({ length: USERS }, (_, user) => askOne(user)));
  return all.flat();
}

describe('No user gets the response to a request of another user', () => {
  test.each<[string, (socket: Socket, response: string) => void]>([
    ['sends two responses at once', (socket, own) => socket.write(own + STRAY)],
    [
      'sends another response a little later',
      (socket, own) => {
        socket.write(own);
        setImmediate(() => socket.write(STRAY));
      },
    ],
    [
      'sends an informational response and then two final ones',
      (socket, own) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${own}${STRAY}`),
    ],
    ['sends a line break after each response', (socket, own) => socket.write(`${own}\r\n`)],
    [
      'sends the beginning of another response',
      (socket, own) => socket.write(`${own}${STRAY.slice(0, 20)}`),
    ],
    [
      'sends a body with a status that has none',
      (socket, own) => {
        socket.write(own.replace('200 OK', '204 No Content'));
      },
    ],
    [
      'sends more than it announced',
      (socket, own) => socket.write(own.replace(/Content-Length: \d+/, 'Content-Length: 3')),
    ],
    [
      'ends each response, and sends another one before the connection is closed',
      (socket, own) => socket.end(own.replace('OK\r\n', 'OK\r\nConnection: close\r\n') + STRAY),
    ],
  ])('if the upstream %s', async (_what, attack) => {
    await using upstream = await startRawUpstream(answerPaths(attack));
    await using front = await startFront({ upstream: upstream.origin });
    const seen = await askAll(front);
    expect(seen).toHaveLength(USERS * ROUNDS);
    for (const [path, { body }] of seen) expect(path.startsWith(body)).toBe(true);
  });

  test('if the upstream sends a response on a kept connection while the next request arrives', async () => {
    await using upstream = await startRawUpstream(answerPaths((socket, own) => socket.write(own)));
    await using front = await startFront({ upstream: upstream.origin });
    for (let round = 0; round < 20; round += 1) {
      await using client = await RawClient.connect(front.port);
      client.send('GET /first HTTP/1.1\r\nHost: app.test\r\n\r\n');
      expect((await client.response()).body).toBe('/first');
      // Both are in the gateway's kernel before it reads either.
      client.send('GET /second HTTP/1.1\r\nHost: app.test\r\n\r\n');
      for (const socket of upstream.connections) if (!socket.destroyed) socket.write(STRAY);
      expect((await client.response()).body).toBe('/second');
    }
  });

  test('if one of them disconnects before the response', async () => {
    await using upstream = await startRawUpstream(
      answerPaths((socket, own, path) => {
        // The response to a request whose client has left comes when its connection would be idle.
        setTimeout(() => socket.write(own), path.startsWith('/left') ? 20 : 0);
      }),
    );
    await using front = await startFront({ upstream: upstream.origin });
    const leave = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS * 2; round += 1) {
        await using client = await RawClient.connect(front.port);
        client.send(`GET /left/${String(round)} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    const [seen] = await Promise.all([askAll(front), leave(), leave()]);
    for (const [path, { body }] of seen) expect(body).toBe(path);
  });

  test('if the upstream answers early and the rest of the body looks like a request', async () => {
    const seen: string[] = [];
    await using upstream = await startRawUpstream((socket, index) => {
      socket.on('data', (data) => {
        const text = data.toString('latin1');
        for (const [, target] of text.matchAll(/(?:GET|POST) (\S+) HTTP/g)) {
          seen.push(`${String(index)} ${target ?? ''}`);
        }
        if (text.startsWith('POST')) socket.write(respond('early'));
        else if (text.startsWith('GET')) socket.write(respond('own'));
      });
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using poster = await RawClient.connect(front.port);
    poster.send('POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
    expect((await poster.response()).body).toBe('early');
    poster.send('1c\r\nGET /smuggled HTTP/1.1\r\nA: b\r\n\r\n0\r\n\r\n');
    await using client = await RawClient.connect(front.port);
    client.send('GET /own HTTP/1.1\r\nHost: app.test\r\n\r\n');
    expect((await client.response()).body).toBe('own');
    expect(seen).toStrictEqual(['0 /post', '1 /own']);
  });

  test.each([
    ['HEAD', 'HEAD /x HTTP/1.1\r\nHost: app.test\r\n\r\n'],
    ['a GET with a body', 'GET /x HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n\r\nbody'],
  ])('if the upstream frames %s in its own way', async (_what, bytes) => {
    await using upstream = await startRawUpstream((socket, index) => {
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n`));
      if (index > 0) return;
      socket.once('data', () => setTimeout(() => socket.write(STRAY), 5));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(bytes);
    await client.receives('\r\n\r\n');
    upstream.connections[0]?.write('x');
    await using next = await RawClient.connect(front.port);
    next.send('HEAD /y HTTP/1.1\r\nHost: app.test\r\n\r\n');
    expect(await next.response({ toHead: true })).toMatchObject({ status: 200 });
    expect(upstream.connections).toHaveLength(2);
  });
});
