import { describe, expect, test } from '@jest/globals';

import { aCompiledRoute, aSnapshot } from '../../support/compiled-resources.ts';
import { compiledSettings } from '../../support/compiled-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { send } from '../../support/http-client.ts';
import { RawClient } from '../../support/raw-http.ts';
import { startUpstream } from '../../support/upstream.ts';
import { publicRouteTo, servePublicRoute } from '../../support/public-route.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n';
const HANDSHAKE = `${GET}Connection: Upgrade\r\nUpgrade: websocket\r\n`;

describe('A request whose error response fails', () => {
  test.each([
    ['a request', `${GET}\r\n`],
    ['a handshake', `${HANDSHAKE}\r\n`],
  ])(
    'the gateway logs the failure, disconnects the client and survives: %s',
    async (_what, bytes) => {
      // Without a configuration nothing can be served, not even an error.
      await using gateway = await startGateway();
      await using client = await RawClient.connect(gateway.port);
      client.send(bytes);
      await client.closed;
      expect(client.received).toBe('');
      expect(gateway.logs()).toEqual([
        expect.objectContaining({
          level: 'error',
          message: 'request failed unexpectedly',
          error: 'Error: there is no configuration yet',
        }),
      ]);
    },
  );
});

describe('A snapshot', () => {
  test('a snapshot that cannot be served is refused, and changes nothing', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using gateway = await startGateway();
    await servePublicRoute(gateway, upstream.origin);
    const version = gateway.gateway.version();
    const broken = publicRouteTo('http://127.0.0.1:1', gateway);
    const worse = aCompiledRoute({ name: 'default/other', path: { kind: 'regex', value: '(' } });
    const next = aSnapshot(compiledSettings(), broken, worse);
    await expect(gateway.gateway.apply(next)).rejects.toThrow('not a valid regular expression');
    expect(gateway.gateway.version()).toBe(version);
    expect((await send(gateway.origin)).body).toBe('served');
    // The next snapshot is still compared with the one that is served.
    await servePublicRoute(gateway, upstream.origin);
    expect((await send(gateway.origin)).body).toBe('served');
  });

  test('a snapshot is refused if another one was applied while it was made ready', async () => {
    await using gateway = await startGateway();
    const results = await Promise.allSettled(
      ['http://127.0.0.1:1', 'http://127.0.0.1:2'].map((upstream) =>
        servePublicRoute(gateway, upstream),
      ),
    );
    // On a busy machine, the one that began later can be ready first.
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: new Error('another snapshot was applied meanwhile'),
    });
  });

  test('a snapshot affects later requests, and no request that has begun', async () => {
    await using before = await startUpstream((message, response) => {
      response.write('begun, ');
      message.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end());
    });
    await using after = await startUpstream((_message, response) => response.end('other'));
    await using gateway = await startGateway();
    await servePublicRoute(gateway, before.origin);
    await using client = await RawClient.connect(gateway.port);
    const host = `Host: localhost:${String(gateway.port)}`;
    client.send(`POST / HTTP/1.1\r\n${host}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(10)}`);
    await client.receives('begun, ');
    await servePublicRoute(gateway, after.origin);
    expect((await send(gateway.origin)).body).toBe('other');
    client.send('x'.repeat(99_990));
    expect((await client.response()).body).toHaveLength('begun, '.length + 100_000);
    // No route leads to it, so its connection is closed once it is idle.
    const [socket] = before.connections;
    await eventually('the connection is closed', () => socket?.destroyed === true, 3_000);
  });
});

describe('A gateway that is not ready', () => {
  test('the gateway reports the reason', async () => {
    await using gateway = await startGateway();
    const reasons = [gateway.gateway.whyNotReady()];
    await servePublicRoute(gateway, 'http://127.0.0.1:1');
    reasons.push(gateway.gateway.whyNotReady());
    await gateway.gateway.listen([]);
    reasons.push(gateway.gateway.whyNotReady());
    await gateway.gateway.close();
    reasons.push(gateway.gateway.whyNotReady());
    expect(reasons).toEqual(['no snapshot yet', undefined, 'not listening', 'draining']);
  });
});
