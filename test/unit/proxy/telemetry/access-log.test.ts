import { describe, expect, test } from '@jest/globals';

import { aCompiledRoute, aSnapshot } from '../../../support/compiled-resources.ts';
import type { CompiledAccessLog } from '../../../../shared/snapshot/log-fields.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { eventually } from '../../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { RawClient } from '../../../support/raw-http.ts';
import { startUpstream } from '../../../support/upstream.ts';

/** Serves everything on the gateway's port from an upstream. */
function serve(
  { gateway, port }: TestGateway,
  upstream: string,
  accessLog?: CompiledAccessLog,
): Promise<void> {
  const from = { scheme: 'http', host: 'localhost', port, allowWebsockets: true } as const;
  const settings = { ...compiledSettings(), ...(accessLog && { accessLog }) };
  return gateway.apply(aSnapshot(settings, aCompiledRoute({ ...from, upstream })));
}

function accessLines(gateway: TestGateway): readonly Readonly<Record<string, unknown>>[] {
  return gateway.logs().filter(({ service }) => service === 'access');
}

/** The access log, once it has a line. */
async function accessLog(gateway: TestGateway): Promise<readonly unknown[]> {
  for (;;) {
    const records = accessLines(gateway);
    if (records.length > 0) return records;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The lines about one request, sent as these bytes. */
async function logOf(
  bytes: (port: number) => string,
  upstream: string,
): Promise<readonly unknown[]> {
  await using gateway = await startGateway({ accessLog: true });
  await serve(gateway, upstream);
  await using client = await RawClient.connect(gateway.port);
  client.send(bytes(gateway.port));
  await client.response();
  return await accessLog(gateway);
}

function handshake(port: number): string {
  return [
    'GET /ws HTTP/1.1',
    `Host: localhost:${String(port)}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  ].join('\r\n');
}

describe('the access log', () => {
  test('has one line for a forwarded request, without its query', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(201).end('served');
    });
    const lines = await logOf(
      (port) => `GET /a?code=secret HTTP/1.1\r\nHost: localhost:${String(port)}\r\n\r\n`,
      upstream.origin,
    );
    expect(lines).toEqual([
      {
        level: 'info',
        service: 'access',
        time: expect.any(String),
        message: 'request',
        'request-id': expect.any(String),
        method: 'GET',
        host: expect.stringMatching(/^localhost:\d+$/),
        path: '/a',
        route: aCompiledRoute({}).name,
        status: 201,
        bytes: 6,
        ended: 'complete',
        upstream: upstream.origin,
        'first-byte-ms': expect.any(Number),
        'upstream-ms': expect.any(Number),
        'gateway-ms': expect.any(Number),
        'duration-ms': expect.any(Number),
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('has one line for a response of the gateway itself', async () => {
    const lines = await logOf(
      (port) => `GET /.gateway/jwks.json HTTP/1.1\r\nHost: localhost:${String(port)}\r\n\r\n`,
      'http://127.0.0.1:1',
    );
    expect(lines).toMatchObject([{ path: '/.gateway/jwks.json', status: 200, ended: 'complete' }]);
    expect(lines).not.toMatchObject([{ upstream: expect.anything() }]);
  });

  test('has one line for a request whose upstream cannot be reached', async () => {
    const lines = await logOf(
      (port) => `GET /a HTTP/1.1\r\nHost: localhost:${String(port)}\r\n\r\n`,
      'http://127.0.0.1:1',
    );
    expect(lines).toMatchObject([
      { path: '/a', status: 502, ended: 'complete', reason: 'upstream-unreachable' },
    ]);
  });

  test('has one line for a request that cannot be parsed', async () => {
    const lines = await logOf(() => 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 'http://a');
    expect(lines).toMatchObject([{ status: 400, ended: 'complete' }]);
    expect(lines).not.toMatchObject([{ path: expect.anything() }]);
  });

  test('has one line for a WebSocket that the upstream declined', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(403).end('not you');
    });
    const lines = await logOf(handshake, upstream.origin);
    expect(lines).toMatchObject([
      { path: '/ws', status: 403, bytes: 7, upstream: upstream.origin },
    ]);
  });

  test('is beside a line that says that the upstream declined, not that it was unreachable', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(403).end();
    });
    await using gateway = await startGateway({ accessLog: true });
    await serve(gateway, upstream.origin);
    await using client = await RawClient.connect(gateway.port);
    client.send(handshake(gateway.port));
    await client.response();
    await accessLog(gateway);
    expect(gateway.logs()).toContainEqual(
      expect.objectContaining({
        message: 'request failed',
        reason: 'websocket-declined',
        error: 'WebSocketDeclinedError: the upstream declined the WebSocket with status 403',
      }),
    );
  });

  test('has the bytes that a client got before it left', async () => {
    await using upstream = await startUpstream((_message, response) => response.write('part'));
    await using gateway = await startGateway({ accessLog: true });
    await serve(gateway, upstream.origin);
    const client = await RawClient.connect(gateway.port);
    client.send(`GET /a HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
    await client.receives('part');
    await client[Symbol.asyncDispose]();
    expect(await accessLog(gateway)).toMatchObject([
      { status: 200, bytes: 4, ended: 'client-gone' },
    ]);
  });

  test('has one line for bytes that are no request, and for a tunnel', async () => {
    const lines = await logOf(() => 'nonsense\r\n\r\n', 'http://a');
    expect(lines).toMatchObject([{ message: 'connection refused', status: 400 }]);
    const tunnel = await logOf(() => 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 'http://a');
    expect(tunnel).toMatchObject([{ message: 'connection refused', status: 400 }]);
  });

  test('has one line for a connection that is refused', async () => {
    const connectionLimits = { total: 1, perClient: 0 };
    await using gateway = await startGateway({ accessLog: true, connectionLimits });
    await using first = await RawClient.connect(gateway.port);
    // It may be reset before it is open.
    await RawClient.connect(gateway.port).then(
      ({ closed }) => closed,
      () => undefined,
    );
    expect(await accessLog(gateway)).toMatchObject([
      { message: 'connection refused', reason: 'too-many-connections' },
    ]);
    expect(first.socket.destroyed).toBe(false);
  });

  test('follows the settings, without a new start', async () => {
    await using upstream = await startUpstream((message, response) => {
      response.writeHead(message.url === '/bad' ? 500 : 200).end();
    });
    await using gateway = await startGateway();
    const get = async (paths: readonly string[], accessLog?: CompiledAccessLog): Promise<void> => {
      await serve(gateway, upstream.origin, accessLog);
      for (const path of paths) {
        await using client = await RawClient.connect(gateway.port);
        client.send(`GET ${path} HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
        await client.response();
      }
    };
    await get(['/good', '/bad']);
    await get(['/good', '/bad'], { mode: 'All', fields: ['path'] });
    await get(['/good', '/bad'], { mode: 'Errors', fields: ['path', 'ip'] });
    await get(['/good', '/bad'], { mode: 'None', fields: ['path'] });
    await get(['/end'], { mode: 'All', fields: ['path'] });
    await eventually('the last line', () => accessLines(gateway).at(-1)?.['path'] === '/end');
    expect(accessLines(gateway).map(({ path, ip }) => [path, ip])).toEqual([
      ['/good', undefined],
      ['/bad', undefined],
      ['/bad', '127.0.0.1'],
      ['/end', undefined],
    ]);
  });

  test('is off by default', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await serve(gateway, upstream.origin);
    await using client = await RawClient.connect(gateway.port);
    client.send(`GET /a HTTP/1.1\r\nHost: localhost:${String(gateway.port)}\r\n\r\n`);
    await client.response();
    expect(accessLines(gateway)).toEqual([]);
  });
});
