import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { eventually } from '../../support/eventually.ts';
import { whyMissing } from '../../support/missing-program.ts';
import { testUnless } from '../../support/describe-unless.ts';
import { scrape } from '../../support/metrics/scrape.ts';
import { headerOf } from '../../support/raw-http.ts';
import { curl, resolving } from '../../support/tls/curl.ts';
import { startTlsWorld, type TlsWorld } from '../../support/tls/tls-world.ts';

const testOfCurl = testUnless(whyMissing('curl'));

const APP = 'app.example.com';
const PLAIN = 'plain.example.com';

/** Addresses of this machine. */
const BALANCER = '127.0.0.2';
const STRANGER = '127.0.0.3';

const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const REQUEST = `GET / HTTP/1.1\r\nHost: ${PLAIN}\r\nConnection: close\r\n\r\n`;

let world: TlsWorld;

beforeAll(async () => {
  world = await startTlsWorld();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await world.apply(
    [
      world.certificate('test/app', [APP]),
      world.route(APP, ['test/app']),
      world.route(PLAIN, undefined, 'http'),
    ],
    { trustedProxies: [`${BALANCER}/32`, '198.51.100.0/24'] },
  );
});

/** Sends bytes from an address, and resolves with all that was received; undefined after a reset. */
async function exchange(from: string, bytes: string | Buffer): Promise<string | undefined> {
  const socket = connect({ host: '127.0.0.1', port: world.port, localAddress: from });
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  try {
    return await text(socket);
  } catch {
    return undefined;
  }
}

/** Returns `X-Forwarded-For` as the upstream received it last. */
function forwardedFor(): string | undefined {
  const last = world.upstream.requests.at(-1);
  return last && headerOf(last, 'x-forwarded-for');
}

function v2(start: number, family: number, rest: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.set([start, family]);
  head.writeUInt16BE(rest.length, 2);
  return Buffer.concat([V2_SIGNATURE, head, rest]);
}

const V2_TCP4 = Buffer.from('cb007109cb007101d43101bb040001aa', 'hex');

describe('the PROXY protocol', () => {
  test.each([
    ['version 1', 'PROXY TCP4 203.0.113.9 203.0.113.1 54321 80\r\n', '203.0.113.9'],
    ['version 1, IPv6', 'PROXY TCP6 2001:db8::9 ::1 54321 80\r\n', '2001:db8::9'],
    ['version 1 without an address', 'PROXY UNKNOWN\r\n', BALANCER],
    ['version 2 with additions', v2(0x21, 0x11, V2_TCP4).toString('latin1'), '203.0.113.9'],
    ['version 2, LOCAL', v2(0x20, 0, Buffer.alloc(0)).toString('latin1'), BALANCER],
    ['no header', '', BALANCER],
  ])('with %s names the client of a trusted proxy', async (_name, header, address) => {
    expect(await exchange(BALANCER, header + REQUEST)).toMatch(/^HTTP\/1\.1 200 /);
    expect(forwardedFor()).toBe(address);
  });

  test('is read at every split', async () => {
    const bytes = `PROXY TCP4 203.0.113.9 203.0.113.1 54321 80\r\n${REQUEST}`;
    const socket = connect({ host: '127.0.0.1', port: world.port, localAddress: BALANCER });
    socket.setNoDelay(true);
    await once(socket, 'connect');
    for (const character of bytes) {
      socket.write(character);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
    expect(forwardedFor()).toBe('203.0.113.9');
  });

  test('keeps a connection for several requests', async () => {
    const keepAlive = REQUEST.replace('Connection: close\r\n', '');
    const header = 'PROXY TCP4 203.0.113.9 203.0.113.1 54321 80\r\n';
    const received = await exchange(BALANCER, header + keepAlive + REQUEST);
    expect(received?.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(forwardedFor()).toBe('203.0.113.9');
  });

  test.each([
    ['version 1', 'PROXY TCP4 203.0.113.9 203.0.113.1 54321 80\r\n'],
    ['version 2', v2(0x21, 0x11, V2_TCP4).toString('latin1')],
  ])('with %s is refused from an address that is not trusted', async (_name, header) => {
    const before = world.upstream.requests.length;
    expect(await exchange(STRANGER, header + REQUEST)).toMatch(/^HTTP\/1\.1 400 /);
    expect(world.upstream.requests).toHaveLength(before);
  });

  test.each([
    ['a malformed header', 'PROXY TCP4 203.0.113.999 203.0.113.1 54321 80\r\n'],
    ['a second header', 'PROXY UNKNOWN\r\nPROXY TCP4 203.0.113.9 203.0.113.1 54321 80\r\n'],
  ])('with %s is refused from a trusted proxy too', async (_name, header) => {
    const before = world.upstream.requests.length;
    expect(String(await exchange(BALANCER, header + REQUEST))).not.toMatch(/^HTTP\/1\.1 200 /);
    expect(world.upstream.requests).toHaveLength(before);
  });

  test('counts connections that it resets', async () => {
    const reason = 'malformed-proxy-header';
    const count = async (): Promise<number> => {
      const { value } = await scrape(world.gateway.metrics);
      return value('gatehouse_connections_refused_total', { reason });
    };
    const before = await count();
    expect(await exchange(BALANCER, 'PROXY \r\n')).toBeUndefined();
    expect(await count()).toBe(before + 1);
  });

  test.each([
    // The proxy before the trusted one is a client like any other: it cannot speak for others.
    ['203.0.113.9', '192.0.2.1', '203.0.113.9'],
    // A trusted one may.
    ['198.51.100.9', '192.0.2.1', '192.0.2.1'],
  ])(
    'that names %s lets X-Forwarded-For count only if that is trusted',
    async (named, header, client) => {
      const bytes = `PROXY TCP4 ${named} 203.0.113.1 54321 80\r\n`;
      const request = REQUEST.replace('Connection', `X-Forwarded-For: ${header}\r\nConnection`);
      await exchange(BALANCER, bytes + request);
      expect(forwardedFor()).toBe(client);
    },
  );

  test('lets X-Forwarded-Proto count only if the named address is trusted', async () => {
    const request = REQUEST.replace(PLAIN, APP).replace(
      'Connection',
      'X-Forwarded-Proto: https\r\nConnection',
    );
    const statusFor = async (named: string): Promise<string | undefined> => {
      const bytes = `PROXY TCP4 ${named} 203.0.113.1 54321 80\r\n`;
      return (await exchange(BALANCER, bytes + request))?.slice(0, 12);
    };
    expect(await statusFor('203.0.113.9')).toBe('HTTP/1.1 308');
    expect(await statusFor('198.51.100.9')).toBe('HTTP/1.1 200');
  });

  test('counts connections for the client that it names', async () => {
    const gateway = world.gateway.gateway;
    const idle = connect({ host: '127.0.0.1', port: world.port, localAddress: BALANCER });
    idle.write('PROXY TCP4 203.0.113.9 203.0.113.1 54321 80\r\n');
    await eventually('it counts', () => gateway.connections() === 1);
    idle.destroy();
    await eventually('it is gone', () => gateway.connections() === 0);
    expect(gateway.connections()).toBe(0);
  });

  test('comes before TLS', async () => {
    const socket = connect({ host: '127.0.0.1', port: world.tlsPort, localAddress: BALANCER });
    socket.write(v2(0x21, 0x11, V2_TCP4));
    const client = connectTls({ socket, servername: APP, ca: world.authority.ca });
    client.write(REQUEST.replace(PLAIN, APP));
    expect(await text(client)).toMatch(/^HTTP\/1\.1 200 /);
    expect(forwardedFor()).toBe('203.0.113.9');
  });

  test('is refused before TLS from an address that is not trusted', async () => {
    const socket = connect({ host: '127.0.0.1', port: world.tlsPort, localAddress: STRANGER });
    socket.write(v2(0x21, 0x11, V2_TCP4));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  testOfCurl('of curl is understood', async () => {
    const answer = await curl(
      `https://${APP}:${String(world.tlsPort)}/`,
      ...['--cacert', world.caFile, ...resolving([APP], world.tlsPort), '--haproxy-protocol'],
      ...['--interface', BALANCER, '--header', `Host: ${APP}`],
    );
    expect(answer).toMatchObject({ status: 200, exitCode: 0 });
  });
});
