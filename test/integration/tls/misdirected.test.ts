import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { CompiledCertificate } from '../../../shared/snapshot/snapshot.ts';
import { startTlsWorld, type TlsWorld } from '../../support/tls/tls-world.ts';

const APP = 'app.example.com';
const OTHER = 'other.example.com';
const BALANCER = '127.0.0.2';
/** A host with an EC and an RSA certificate, each of which is for another host as well. */
const BOTH = 'both.example.com';
const EC_ONLY = 'ec-only.example.com';
const RSA_ONLY = 'rsa-only.example.com';

let world: TlsWorld;

beforeAll(async () => {
  world = await startTlsWorld();
  await world.apply(
    [
      world.certificate('test/app', [APP, 'plain.example.com', 'unknown.example.com']),
      world.certificate('test/other', [OTHER, APP]),
      world.route(APP, ['test/app']),
      world.route(OTHER, ['test/other']),
      world.route('plain.example.com', undefined, 'http'),
      world.certificate('test/ec', [BOTH, EC_ONLY]),
      anRsaCertificate('test/rsa', [BOTH, RSA_ONLY]),
      world.route(BOTH, ['test/ec', 'test/rsa']),
      world.route(EC_ONLY, ['test/ec']),
      world.route(RSA_ONLY, ['test/rsa']),
    ],
    { trustedProxies: [`${BALANCER}/32`] },
  );
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

function anRsaCertificate(name: string, hosts: readonly string[]): CompiledCertificate {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { cert, key } = world.authority.issue(hosts, { keys });
  return { ...world.certificate(name, hosts), certificate: cert, privateKey: key };
}

async function ask(
  servername: string,
  host: string,
  localAddress = '127.0.0.1',
  session?: Buffer,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const outgoing = httpsRequest({
    ...{ host: '127.0.0.1', port: world.tlsPort, servername, ca: world.authority.ca },
    ...{ headers: { host }, localAddress, agent: false, session },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

async function sessionOf(servername: string): Promise<Buffer> {
  const client = connectTls({
    ...{ host: '127.0.0.1', port: world.tlsPort, servername, ca: world.authority.ca },
  });
  const [session] = (await once(client, 'session')) as [Buffer];
  client.destroy();
  return session;
}

describe('a request on a TLS connection', () => {
  test.each([
    ['the host of the handshake', APP, APP, 200],
    ['a host with its port', APP, `${APP}:443`, 200],
    ['another host of the certificate', OTHER, APP, 200],
    ['a host that the certificate is not for', APP, OTHER, 421],
    ['a host without a route', APP, 'unknown.example.com', 421],
    ['a host whose route has plain http', APP, 'plain.example.com', 421],
  ])('for %s is answered as it should be', async (_name, servername, host, status) => {
    expect((await ask(servername, host)).status).toBe(status);
  });

  test.each([
    [APP, 200],
    [OTHER, 421],
  ])('of HTTP/2 for %s is answered with %i', async (host, status) => {
    const client = connectHttp2(`https://${APP}:${String(world.tlsPort)}`, {
      ...{ host: '127.0.0.1', servername: APP, ca: world.authority.ca },
      lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const stream = client.request({ ':authority': host, ':path': '/' });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(headers[':status']).toBe(status);
    client.destroy();
  });

  test('of a host with two certificates is for what the presented one covers', async () => {
    expect((await ask(BOTH, BOTH)).status).toBe(200);
    const others = [await ask(BOTH, EC_ONLY), await ask(BOTH, RSA_ONLY)];
    expect(others.map(({ status }) => status).sort()).toEqual([200, 421]);
  });

  test.each([
    [BOTH, 200],
    [EC_ONLY, 421],
    [RSA_ONLY, 421],
  ])(
    'that is resumed, of a host with two certificates, is for what both cover: %s',
    async (host, status) => {
      const session = await sessionOf(BOTH);
      expect((await ask(BOTH, host, '127.0.0.1', session)).status).toBe(status);
    },
  );

  test('that is misdirected gets the reason', async () => {
    const { body } = await ask(APP, OTHER);
    expect(JSON.parse(body)).toMatchObject({ error: 'misdirected-request' });
  });

  test('of a trusted proxy may be for any host', async () => {
    expect((await ask(APP, OTHER, BALANCER)).status).toBe(200);
  });

  test('reaches the upstream with https in X-Forwarded-Proto', async () => {
    const before = world.upstream.requests.length;
    await ask(APP, APP);
    const { headers } = await world.upstream.request(before);
    expect(headers).toContainEqual(['X-Forwarded-Proto', 'https']);
    expect(headers).toContainEqual(['X-Forwarded-For', '127.0.0.1']);
  });
});
