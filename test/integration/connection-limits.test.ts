import { connect } from 'node:net';

import { expect, test } from '@jest/globals';
import { WebSocketServer } from 'ws';

import { startGateway } from '../support/gateway.ts';
import { RawClient } from '../support/raw-http.ts';
import { startUpstream } from '../support/upstream.ts';
import { scrape } from '../support/metrics/scrape.ts';

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';

test('a gateway bounds its connections, counts WebSockets, and logs refusals once', async () => {
  await using upstream = await startUpstream((_message, response) => response.end('ok'));
  const webSockets = new WebSocketServer({ server: upstream.server });
  await using gateway = await startGateway({ connectionLimits: { total: 2, perClient: 1 } });
  await gateway.apply(
    `${JSON.stringify({
      apiVersion: 'gatehouse.dev/v1alpha1',
      kind: 'Route',
      metadata: { name: 'open' },
      spec: {
        ...{ from: gateway.origin, to: upstream.origin, allowWebsockets: true },
        allowPublicUnauthenticatedAccess: true,
      },
    })}\n---\n{apiVersion: gatehouse.dev/v1alpha1, kind: GatewaySettings, metadata: {name: g}, spec: {}}`,
  );
  const host = `Host: localhost:${String(gateway.port)}`;
  await using socket = await RawClient.connect(gateway.port);
  socket.send(
    `GET / HTTP/1.1\r\n${host}\r\n${UPGRADE}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  await socket.receives(' 101 ');
  // A second connection of this machine: the bound of one client is not for servers in front.
  await using plain = await RawClient.connect(gateway.port);
  plain.send(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
  expect((await plain.response()).status).toBe(200);

  for (let refused = 0; refused < 3; refused += 1) {
    const client = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => client.once('close', resolve));
  }
  const refusals = gateway.logs().filter(({ message }) => message === 'connections refused');
  expect(refusals).toMatchObject([{ reason: 'too-many-connections', refused: 1 }]);
  expect(refusals[0]).not.toHaveProperty('ip');
  const { value } = await scrape(gateway.metrics);
  const counted = { reason: 'too-many-connections' };
  expect(value('gatehouse_connections_refused_total', counted)).toBe(3);

  // What is open is served on.
  plain.send(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
  expect((await plain.response()).status).toBe(200);
  webSockets.close();
});
