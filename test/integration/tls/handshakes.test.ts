import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../../support/eventually.ts';
import { whyMissing } from '../../support/missing-program.ts';
import { describeUnless } from '../../support/describe-unless.ts';
import { RawClient } from '../../support/raw-http.ts';
import { clientHelloWith } from '../../support/tls/client-hello.ts';
import { startSlowRelay } from '../../support/tls/slow-relay.ts';
import { curl, resolving } from '../../support/tls/curl.ts';
import { opensslClient } from '../../support/tls/openssl-client.ts';
import { startTlsWorld, type TlsWorld } from '../../support/tls/tls-world.ts';

const describeWithTools = describeUnless(whyMissing('openssl') ?? whyMissing('curl'));

const APP = 'app.example.com';
const OTHER = 'other.example.com';

let world: TlsWorld;

beforeAll(async () => {
  world = await startTlsWorld();
  await world.apply([
    world.certificate('test/app', [APP]),
    world.certificate('test/wild', ['*.example.com']),
    world.route(APP, ['test/app']),
    world.route('*.example.com', ['test/wild']),
  ]);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Returns the subject alternative names of the certificate that a client gets. */
async function namesFor(servername?: string): Promise<string | undefined> {
  const client = connectTls({
    ...{ host: '127.0.0.1', port: world.tlsPort, ca: world.authority.ca },
    ...{ checkServerIdentity: () => undefined },
    ...(servername !== undefined && { servername }),
  });
  await once(client, 'secureConnect');
  const { subjectaltname } = client.getPeerCertificate();
  client.destroy();
  return subjectaltname;
}

describeWithTools('TLS of clients', () => {
  test('clients get the certificate of the host that they name', async () => {
    expect(await namesFor(APP)).toBe(`DNS:${APP}`);
    expect(await namesFor('APP.example.com')).toBe(`DNS:${APP}`);
    expect(await namesFor(OTHER)).toBe('DNS:*.example.com');
    for (const host of [APP, OTHER]) {
      const answer = await curl(
        `https://${host}:${String(world.tlsPort)}/`,
        ...['--cacert', world.caFile, ...resolving([host], world.tlsPort)],
        ...['--header', `Host: ${host}`],
      );
      expect(answer).toMatchObject({ status: 200, exitCode: 0 });
    }
  });

  test.each([
    ['--http1.1', '1.1'],
    ['--http2', '2'],
  ])('curl %s speaks HTTP/%s', async (option, httpVersion) => {
    const answer = await curl(
      `https://${APP}:${String(world.tlsPort)}/`,
      ...['--cacert', world.caFile, ...resolving([APP], world.tlsPort)],
      ...['--header', `Host: ${APP}`, option],
    );
    expect(answer).toMatchObject({
      status: 200,
      httpVersion,
      body: expect.stringMatching(/^upstream/),
    });
  });

  test.each([
    ['TLS 1.3', '-tls1_3', /New, TLSv1\.3, Cipher is TLS_/],
    ['TLS 1.2', '-tls1_2', /New, TLSv1\.2, Cipher is ECDHE-ECDSA-/],
  ])('%s is accepted', async (_name, version, expected) => {
    const output = await opensslClient(world.tlsPort, ['-servername', APP, version]);
    expect(output).toMatch(expected);
  });

  test.each([
    ['TLS 1.1', ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0']],
    ['TLS 1.0', ['-tls1', '-cipher', 'ALL:@SECLEVEL=0']],
    ['a suite without forward secrecy', ['-tls1_2', '-cipher', 'AES128-GCM-SHA256']],
    [
      'a suite without authenticated encryption',
      ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA256'],
    ],
    ['an unknown application protocol', ['-alpn', 'ftp']],
  ])('%s is refused', async (_name, args) => {
    const before = await world.handshakes('nothing-in-common');
    const output = await opensslClient(world.tlsPort, ['-servername', APP, ...args]);
    expect(output).toMatch(/alert|no protocols available/);
    expect(output).toMatch(/Cipher is \(NONE\)/);
    await eventually('it is counted', async () => {
      return (await world.handshakes('nothing-in-common')) > before;
    });
  });

  test.each([
    ['a name that no certificate covers', ['-servername', 'unknown.example.org']],
    ['no name', ['-noservername']],
  ])('%s ends with the alert unrecognized_name', async (_name, args) => {
    const output = await opensslClient(world.tlsPort, args);
    expect(output).toMatch(/unrecognized name.*alert number 112/);
  });

  test('the default certificate serves clients that name no host', async () => {
    await using other = await startTlsWorld();
    await other.apply([other.certificate('test/default', ['fallback.example.com'])], {
      defaultCertificate: 'test/default',
    });
    for (const args of [['-noservername'], ['-servername', 'unknown.example.org']]) {
      expect(await opensslClient(other.tlsPort, args)).toMatch(/New, TLSv1\.3/);
    }
  });

  test('a client cannot renegotiate', async () => {
    const args = ['-servername', APP, '-tls1_2'];
    // s_client renegotiates at a line with R alone.
    const output = await opensslClient(world.tlsPort, args, 'R\n');
    expect(output).toMatch(/RENEGOTIATING/);
    expect(output).toMatch(/no renegotiation/);
  });

  test('a request without TLS gets an answer that says so', async () => {
    const before = await world.handshakes('plain-http');
    const answer = await curl(`http://127.0.0.1:${String(world.tlsPort)}/`);
    expect(answer).toMatchObject({ status: 400, exitCode: 0 });
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'plain-http' });
    expect(await world.handshakes('plain-http')).toBe(before + 1);
  });

  test('bytes that are neither a request nor TLS end the connection', async () => {
    await using client = await RawClient.connect(world.tlsPort);
    client.send(Buffer.from('ff00ff00ff00', 'hex'));
    expect(await client.closed).toBe('ended');
    expect(Buffer.from(client.received, 'latin1').toString('hex')).toBe('15030300020232');
  });

  // Their errors are events, which end the process if nothing listens.
  test.each([
    ['before it sends anything', ''],
    ['in its ClientHello', '160301'],
    ['after a request without TLS', Buffer.from('GET / HTTP/1.1\r\n').toString('hex')],
    ['after bytes that are not TLS', 'ff00ff00'],
  ])('a client may reset its connection %s', async (_name, hex) => {
    const { gateway } = world.gateway;
    const client = connect({ host: '127.0.0.1', port: world.tlsPort }).on('error', () => undefined);
    client.write(Buffer.from(hex, 'hex'));
    await eventually('it is accepted', () => gateway.connections() === 1);
    client.resetAndDestroy();
    await eventually('it is gone', () => gateway.connections() === 0);
    expect(await namesFor(APP)).toBe(`DNS:${APP}`);
  });

  test.each(['a\0.example.com', 'fe80::1%x.example.com'])('a client may name %j', async (name) => {
    await using client = await RawClient.connect(world.tlsPort);
    client.send(await clientHelloWith(name));
    await client.closed;
    expect(Buffer.from(client.received, 'latin1').toString('hex')).toBe('15030300020270');
    expect(await namesFor(APP)).toBe(`DNS:${APP}`);
  });

  test('connections from one port to two addresses keep their certificates apart', async () => {
    await using listening = await startTlsWorld('0.0.0.0');
    const hosts = [APP, 'other.example.net'];
    await listening.apply(
      hosts.flatMap((host) => {
        const name = `test/${host}`;
        return [listening.certificate(name, [host]), listening.route(host, [name])];
      }),
    );
    const [first, second] = await connectTwice(listening.tlsPort);
    const clients = [first, second].map((socket, index) => {
      const client = connectTls({ socket, servername: hosts[index], ca: listening.authority.ca });
      client.write(`GET / HTTP/1.1\r\nHost: ${hosts[index] ?? ''}\r\nConnection: close\r\n\r\n`);
      return text(client);
    });
    for (const answer of await Promise.all(clients)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a handshake that arrives byte by byte is read', async () => {
    await using relay = await startSlowRelay(world.tlsPort, 400);
    const answer = await curl(
      `https://${APP}:${String(relay.port)}/`,
      ...['--cacert', world.caFile, ...resolving([APP], relay.port), '--header', `Host: ${APP}`],
    );
    expect(answer).toMatchObject({ status: 200, exitCode: 0 });
  });

  test('sessions are resumed by one gateway, and not by another with the same certificate', async () => {
    await using other = await startTlsWorld();
    await other.apply([world.certificate('test/app', [APP]), other.route(APP, ['test/app'])]);
    const session = await sessionOf(world.tlsPort);
    expect(await isResumed(world.tlsPort, session)).toBe(true);
    expect(await isResumed(other.tlsPort, session)).toBe(false);
  });

  test('connections count while their handshake is not over, and leave with their client', async () => {
    const idle = connect(world.tlsPort, '127.0.0.1');
    await once(idle, 'connect');
    await eventually('it counts', () => world.gateway.gateway.connections() === 1);
    idle.destroy();
    await eventually('it is gone', () => world.gateway.gateway.connections() === 0);
    const client = connectTls({
      ...{ host: '127.0.0.1', port: world.tlsPort, servername: APP, ca: world.authority.ca },
    });
    await once(client, 'secureConnect');
    await eventually('it counts', () => world.gateway.gateway.connections() === 1);
    client.destroy();
    await eventually('it is gone', () => world.gateway.gateway.connections() === 0);
    expect(await world.handshakes('completed')).toBeGreaterThan(0);
  });
});

/** Connects from one port to two addresses of this machine. */
async function connectTwice(port: number): Promise<readonly [Socket, Socket]> {
  const first = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.1' });
  await once(first, 'connect');
  const localPort = first.localPort ?? 0;
  const second = connect({ host: '127.0.0.2', port, localAddress: '127.0.0.1', localPort });
  await once(second, 'connect');
  return [first, second];
}

async function sessionOf(port: number): Promise<Buffer> {
  const client = connectTls({ host: '127.0.0.1', port, servername: APP, ca: world.authority.ca });
  // The tickets of TLS 1.3 come after the handshake.
  const [session] = (await once(client, 'session')) as [Buffer];
  client.destroy();
  return session;
}

async function isResumed(port: number, session: Buffer): Promise<boolean> {
  const client = connectTls({
    ...{ host: '127.0.0.1', port, servername: APP, session, rejectUnauthorized: false },
  });
  await once(client, 'secureConnect');
  const resumed = client.isSessionReused();
  client.destroy();
  return resumed;
}
