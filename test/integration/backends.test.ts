import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { buffer, text } from 'node:stream/consumers';

import { describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import type { CompiledRoute, CompiledService } from '../../shared/snapshot/snapshot.ts';
import { aCompiledRoute, aCompiledService, aSnapshot } from '../support/compiled-resources.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { open, send } from '../support/http-client.ts';
import { headerOf, RawClient } from '../support/raw-http.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { addressOf, FILES, filesAt } from '../support/files-service.ts';

/** Responds with a name. */
function naming(name: string): RequestListener {
  return (message, response) => {
    message.resume().on('end', () => response.end(name));
  };
}

/** Serves a public route to backends, and these Services, from now on. */
function serve(
  { port, gateway }: TestGateway,
  services: readonly CompiledService[],
  changes: Partial<CompiledRoute> = {},
): Promise<void> {
  const route = aCompiledRoute({
    ...{ scheme: 'http', host: 'localhost', port, allowWebsockets: true },
    ...{ upstream: 'http://files.team.svc:8080', backends: [FILES] },
    ...changes,
  });
  return gateway.apply(aSnapshot(compiledSettings(), route, ...services));
}

/** Sends requests one after another, and returns the bodies of the responses. */
async function answers(url: string, count: number): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (let index = 0; index < count; index += 1) bodies.push((await send(url)).body);
  return bodies;
}

/**
 * Serves two targets, one of which refuses connections, and makes all requests try that one first: the
 * other one has a request in flight until this is disposed of.
 */
async function serveWithDeadTarget(
  gateway: TestGateway,
  upstream: Upstream,
): Promise<AsyncDisposable> {
  await serve(gateway, [filesAt(upstream)]);
  const { port } = gateway;
  const waiting = await RawClient.connect(port);
  waiting.send(`GET /wait HTTP/1.1\r\nHost: localhost:${String(port)}\r\n\r\n`);
  await upstream.request(0);
  await serve(gateway, [filesAt(upstream, await anUnusedPort())]);
  return waiting;
}

/** Never responds to `/wait`, and handles every other request. */
function waiting(handle: RequestListener): RequestListener {
  return (message, response) => {
    if (message.url === '/wait') message.resume();
    else handle(message, response);
  };
}

async function anUnusedPort(): Promise<{ readonly port: number }> {
  return { port: await freePort() };
}

describe('A route with a Service behind it', () => {
  test('the proxy sends requests to all targets, with the name of the Service as the host', async () => {
    await using one = await startUpstream(naming('one'));
    await using two = await startUpstream(naming('two'));
    await using gateway = await startGateway();
    await serve(gateway, [filesAt(one, two)]);
    expect(new Set(await answers(`${gateway.origin}/a?b`, 50))).toEqual(new Set(['one', 'two']));
    const { message } = await one.request(0);
    expect({ host: message.headers.host, url: message.url }).toEqual({
      host: 'files.team.svc:8080',
      url: '/a?b',
    });
  });

  test('the proxy sends a request to the target with fewer requests in flight', async () => {
    await using busy = await startUpstream((message) => void message.resume());
    await using idle = await startUpstream(naming('idle'));
    await using gateway = await startGateway();
    await serve(gateway, [filesAt(busy)]);
    await using client = await RawClient.connect(gateway.port);
    client.send(`GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
    await busy.request(0);
    await serve(gateway, [filesAt(busy, idle)]);
    expect(new Set(await answers(gateway.origin, 20))).toEqual(new Set(['idle']));
    expect(busy.requests).toHaveLength(1);
  });

  test('the proxy loses no request if a target is gone', async () => {
    await using left = await startUpstream(naming('left'));
    await using gateway = await startGateway();
    const gone = await startUpstream(naming('gone'));
    await serve(gateway, [filesAt(left, gone)]);
    expect(new Set(await answers(gateway.origin, 50))).toEqual(new Set(['left', 'gone']));
    await gone[Symbol.asyncDispose]();
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { status, body } = await send(gateway.origin, { method: 'POST', body: 'x' });
        return `${String(status)} ${body}`;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set(['200 left']));
  });

  test.each<[what: string, sum: string, bytes: (host: string) => string]>([
    [
      'a long body',
      'none',
      (host) =>
        `POST / HTTP/1.1\r\n${host}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
    ],
    [
      'trailer fields',
      '1',
      (host) =>
        `POST / HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n` +
        `186a0\r\n${'x'.repeat(100_000)}\r\n0\r\nX-Sum: 1\r\n\r\n`,
    ],
  ])(
    'the proxy sends a request complete to a target that accepts it: one with %s',
    async (_what, sum, bytes) => {
      await using left = await startUpstream(
        waiting((message, response) => {
          buffer(message).then(
            ({ length }) => {
              const sum = message.trailers['x-sum'] ?? 'none';
              response.end(`${String(length)} for ${String(message.headers.host)}, sum ${sum}`);
            },
            () => response.destroy(),
          );
        }),
      );
      await using gateway = await startGateway();
      await using stack = new AsyncDisposableStack();
      stack.use(await serveWithDeadTarget(gateway, left));
      await using client = await RawClient.connect(gateway.port);
      client.send(bytes(`Host: localhost:${String(gateway.port)}`));
      const { status, body } = await client.response();
      expect({ status, body }).toEqual({
        status: 200,
        body: `100000 for files.team.svc:8080, sum ${sum}`,
      });
    },
  );

  test('the proxy answers 502 if no target accepts a connection', async () => {
    await using gateway = await startGateway();
    await serve(gateway, [filesAt(await anUnusedPort(), await anUnusedPort())]);
    expect((await send(gateway.origin)).status).toBe(502);
    const body = 'x'.repeat(100_000);
    expect((await send(gateway.origin, { method: 'POST', body })).status).toBe(502);
  });

  test('the proxy divides requests among Services by weight, and sends none to weight 0', async () => {
    await using one = await startUpstream(naming('one'));
    await using two = await startUpstream(naming('two'));
    await using never = await startUpstream(naming('never'));
    await using gateway = await startGateway();
    const backends = [
      { service: 'team/never', port: 8080, weight: 0 },
      { service: 'team/one', port: 8080, weight: 9 },
      { service: 'other/two', port: 80, weight: 1 },
    ];
    const services = [
      aCompiledService('team/never', [addressOf(never)]),
      aCompiledService('team/one', [addressOf(one)]),
      aCompiledService('other/two', [addressOf(two)], 80),
    ];
    await serve(gateway, services, { backends });
    const got = await answers(gateway.origin, 200);
    const share = got.filter((name) => name === 'two').length;
    // The mean is 20 of 200; fewer than 3 or more than 45 occur once in a million runs.
    expect(share).toBeGreaterThan(2);
    expect(share).toBeLessThan(46);
    expect(never.requests).toHaveLength(0);
    expect((await two.request(0)).message.headers.host).toBe('two.other.svc');
  });

  const NOWHERE: readonly (readonly [
    string,
    readonly CompiledService[],
    Partial<CompiledRoute>,
  ])[] = [
    ['its Service has no target', [filesAt()], {}],
    ['its Service has no such port', [aCompiledService('team/files', ['127.0.0.1:1'], 9)], {}],
    ['there is no such Service', [], {}],
    ['the backend must not be used', [], { backends: [{ port: 8080, weight: 1 }] }],
    ['no backend has any weight', [filesAt()], { backends: [{ ...FILES, weight: 0 }] }],
  ];

  test.each(NOWHERE)(
    'the proxy answers 503 with Retry-After if %s',
    async (_what, services, changes) => {
      await using gateway = await startGateway();
      await serve(gateway, services, changes);
      const { status, headers } = await send(gateway.origin);
      expect({ status, retryAfter: headers['retry-after'] }).toEqual({
        status: 503,
        retryAfter: '1',
      });
      await using client = await RawClient.connect(gateway.port);
      client.send(
        `GET / HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n` +
          'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      );
      const handshake = await client.response();
      expect(handshake.status).toBe(503);
      expect(headerOf(handshake, 'retry-after')).toBe('1');
    },
  );

  test('the proxy relays WebSockets to a target that accepts them', async () => {
    await using left = await startUpstream(waiting((_message, response) => response.end()));
    const sockets = new WebSocketServer({ server: left.server });
    sockets.on('connection', (socket, { headers, url }) => {
      socket.send(`${String(headers.host)} ${String(url)}`);
    });
    await using gateway = await startGateway();
    await using stack = new AsyncDisposableStack();
    stack.use(await serveWithDeadTarget(gateway, left));
    const client = new WebSocket(`${gateway.origin.replace('http:', 'ws:')}//x?y`);
    const [message] = (await once(client, 'message')) as [Buffer];
    expect(message.toString()).toBe('files.team.svc:8080 //x?y');
    client.close();
    await once(client, 'close');
  });

  test('the proxy answers a handshake with 502 if no target accepts a connection', async () => {
    await using gateway = await startGateway();
    await serve(gateway, [filesAt(await anUnusedPort())]);
    const client = new WebSocket(gateway.origin.replace('http:', 'ws:'));
    const [error] = (await once(client, 'error')) as [Error];
    expect(error.message).toContain('502');
  });

  test('a request finishes at a target that is removed meanwhile', async () => {
    await using old = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': '8' }).write('from');
    });
    await using next = await startUpstream(naming('next'));
    await using gateway = await startGateway();
    await serve(gateway, [filesAt(old)]);
    const underWay = await open(gateway.origin);
    await serve(gateway, [filesAt(next)]);
    expect(new Set(await answers(gateway.origin, 5))).toEqual(new Set(['next']));
    (await old.request(0)).response.end(' old');
    expect(await text(underWay)).toBe('from old');
    const [connection] = old.connections;
    await eventually('its connection is closed', () => connection?.destroyed === true, 3_000);
  });
});
