import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

import { expect, test } from '@jest/globals';

import { acceptsConnections } from '../../support/accepts-connections.ts';
import {
  aCompiledCertificate,
  aCompiledRoute,
  aSnapshot,
} from '../../support/compiled-resources.ts';
import { compiledSettings } from '../../support/compiled-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { send } from '../../support/http-client.ts';
import { createThrowawayAuthority } from '../../support/throwaway-authority.ts';
import { startUpstream } from '../../support/upstream.ts';

const APP = 'app.example.com';
const REQUEST = `GET / HTTP/1.1\r\nHost: ${APP}\r\nConnection: close\r\n\r\n`;
const CANNOT_OPEN = 'the listener for TLS cannot be opened';

test('a gateway whose TLS port is in use serves nothing without TLS that is for it, and tries again', async () => {
  await using upstream = await startUpstream((_message, response) => response.end('served'));
  await using gateway = await startGateway();
  await using taken = await takePort();
  const authority = createThrowawayAuthority();
  const route = aCompiledRoute({ upstream: upstream.origin, certificates: ['test/app'] });
  const [plain] = await gateway.gateway.listen([
    { host: '127.0.0.1', port: 0 },
    { host: '127.0.0.1', port: taken.port, isTls: true },
  ]);
  const certificate = aCompiledCertificate('test/app', [APP], authority);
  const withCertificate = (path: string) =>
    aSnapshot(compiledSettings(), certificate, {
      ...route,
      path: { kind: 'prefix', value: path },
    });
  const failures = () => gateway.logs().filter(({ message }) => message === CANNOT_OPEN);
  await gateway.gateway.apply(withCertificate(''));
  await eventually('the failure is logged', () => failures().length > 0);
  expect(gateway.gateway.whyNotReady()).toBeUndefined();
  const answer = await send(`http://127.0.0.1:${String(plain?.port)}/`, { headers: { host: APP } });
  expect(answer).toMatchObject({ status: 308, headers: { location: `https://${APP}/` } });
  expect(upstream.requests).toHaveLength(0);

  await gateway.gateway.apply(withCertificate('/a'));
  await gateway.gateway.apply(withCertificate(''));
  await taken.release();
  await eventually('the port opens', () =>
    acceptsConnections({ host: '127.0.0.1', port: taken.port }),
  );
  const client = connectTls({
    ...{ host: '127.0.0.1', port: taken.port, servername: APP, ca: authority.ca },
  });
  client.write(REQUEST);
  expect(await text(client)).toMatch(/^HTTP\/1\.1 200 /);
  expect(failures()).toHaveLength(1);
});

test('a gateway that ends no longer tries to open its TLS port', async () => {
  await using gateway = await startGateway();
  await using taken = await takePort();
  await gateway.gateway.listen([{ host: '127.0.0.1', port: taken.port, isTls: true }]);
  await gateway.gateway.apply(aSnapshot(compiledSettings(), aCompiledCertificate()));
  await eventually('it fails', () => gateway.logs().some(({ message }) => message === CANNOT_OPEN));
  await gateway.gateway.close();
  await taken.release();
  // Longer than the time between two attempts.
  await wait(1500);
  expect(await acceptsConnections({ host: '127.0.0.1', port: taken.port })).toBe(false);
});

/** Another program on a port that the gateway wants. */
async function takePort(): Promise<
  AsyncDisposable & { readonly port: number; release(): Promise<void> }
> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  const release = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return { port, release, [Symbol.asyncDispose]: release };
}
