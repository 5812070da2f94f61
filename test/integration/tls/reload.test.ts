import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { scrape } from '../../support/metrics/scrape.ts';
import { startTlsWorld, type TlsWorld } from '../../support/tls/tls-world.ts';

const APP = 'app.example.com';
const CHANGES = 20;
/** Half of a body that is too long to be forwarded in one piece. */
const HALF = '~'.repeat(100_000);

let world: TlsWorld;

beforeEach(async () => {
  world = await startTlsWorld();
  await renew();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Serves a new certificate for the host from now on. */
async function renew(): Promise<void> {
  await world.apply([world.certificate('test/app', [APP]), world.route(APP, ['test/app'])]);
}

async function connect(): Promise<TLSSocket> {
  const client = connectTls({
    ...{ host: '127.0.0.1', port: world.tlsPort, servername: APP, ca: world.authority.ca },
  });
  await once(client, 'secureConnect');
  return client;
}

async function ask(agent: Agent): Promise<number | undefined> {
  const outgoing = request({
    ...{ agent, host: '127.0.0.1', port: world.tlsPort, servername: APP, path: '/' },
    ...{ ca: world.authority.ca, headers: { host: APP } },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  await text(response);
  return response.statusCode;
}

describe('a new certificate', () => {
  test('is what the next client gets, while connections that are open go on', async () => {
    const before = await connect();
    await renew();
    const after = await connect();
    expect(after.getPeerCertificate().fingerprint256).not.toBe(
      before.getPeerCertificate().fingerprint256,
    );
    before.write(`GET / HTTP/1.1\r\nHost: ${APP}\r\nConnection: close\r\n\r\n`);
    expect(await text(before)).toMatch(/^HTTP\/1\.1 200 /);
    after.destroy();
  });

  test('fails no request under load, on old and on new connections', async () => {
    using kept = new DisposableAgent({ keepAlive: true, maxSockets: 4 });
    const session = connectHttp2(`https://${APP}:${String(world.tlsPort)}`, {
      createConnection: () =>
        connectTls({
          ...{ host: '127.0.0.1', port: world.tlsPort, servername: APP, ca: world.authority.ca },
          ALPNProtocols: ['h2'],
        }),
    });
    let isOver = false;
    const statuses = new Map<unknown, number>();
    const count = (status: unknown): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    const loops = [
      ...Array.from({ length: 4 }, () => () => ask(kept)),
      ...Array.from({ length: 2 }, () => () => ask(new Agent({ maxCachedSessions: 0 }))),
      async () => {
        const stream = session.request({ ':authority': APP, ':path': '/' });
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
        await text(stream);
        return headers[':status'];
      },
    ].map(async (next) => {
      while (!isOver) count(await next());
    });
    for (let change = 0; change < CHANGES; change += 1) {
      await renew();
      const client = await connect();
      client.destroy();
    }
    isOver = true;
    await Promise.all(loops);
    session.destroy();
    expect([...statuses.keys()]).toEqual([200]);
    expect(statuses.get(200)).toBeGreaterThan(CHANGES);
  });

  test('is what the metric shows the end of', async () => {
    const expiry = async (): Promise<number> => {
      const { value } = await scrape(world.gateway.metrics);
      return value('gatehouse_certificate_expiry_timestamp_seconds', { certificate: 'test/app' });
    };
    expect(await expiry()).toBe(Date.parse('2049-12-31T23:59:59Z') / 1000);
    const sooner = { ...world.certificate('test/app', [APP]), notAfter: 2_000_000_000 };
    await world.apply([sooner, world.route(APP, ['test/app'])]);
    expect(await expiry()).toBe(2_000_000_000);
  });
});

describe('the end of a gateway', () => {
  test('ends idle connections at once, and finishes the requests of the others', async () => {
    const idle = await connect();
    const silent = connectTls({ host: '127.0.0.1', port: world.tlsPort, servername: APP });
    silent.on('error', () => undefined);
    const busy = await connect();
    busy.write(`POST / HTTP/1.1\r\nHost: ${APP}\r\nContent-Length: 200000\r\n\r\n${HALF}`);
    await world.upstream.request(0);
    const closed = world.gateway.gateway.close();
    await once(idle.resume(), 'close');
    busy.write(HALF);
    const received = await text(busy);
    expect(received).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/i);
    expect(received.match(/~/g)?.length).toBe(2 * HALF.length);
    await closed;
    expect(world.gateway.gateway.connections()).toBe(0);
    silent.destroy();
  });
});

class DisposableAgent extends Agent implements Disposable {
  [Symbol.dispose](): void {
    this.destroy();
  }
}
