import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { CompiledCertificate } from '../../../shared/snapshot/snapshot.ts';
import { describeUnless } from '../../support/describe-unless.ts';
import { scrape } from '../../support/metrics/scrape.ts';
import { whyMissing } from '../../support/missing-program.ts';
import { curl, type CurlAnswer } from '../../support/tls/curl.ts';
import { opensslClient } from '../../support/tls/openssl-client.ts';
import { startTlsWorld, type TlsWorld } from '../../support/tls/tls-world.ts';

const APP = 'app.example.com';
const CHANGES = 20;
const REQUESTS = 50;
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

/** Serves a new certificate for the host from now on, and returns it. */
async function renew(): Promise<CompiledCertificate> {
  const certificate = world.certificate('test/app', [APP]);
  await world.apply([certificate, world.route(APP, ['test/app'])]);
  return certificate;
}

async function connect(): Promise<TLSSocket> {
  const client = connectTls({
    ...{ host: '127.0.0.1', port: world.tlsPort, servername: APP, ca: world.authority.ca },
  });
  await once(client, 'secureConnect');
  return client;
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

describeUnless(whyMissing('openssl') ?? whyMissing('curl'))('new certificates under load', () => {
  test.each([
    ['on a kept connection', ['--http1.1']],
    ['by HTTP/2', ['--http2']],
    ['on a connection for each', ['--http1.1', '--header', 'Connection: close']],
  ])('fail no request of curl %s, and each is presented to openssl', async (_name, options) => {
    let isOver = false;
    const codes: number[][] = [[], []];
    const clients = codes.map(async (own) => {
      while (!isOver) own.push((await manyRequests(options)).exitCode);
    });
    // Each client is done at least once while certificates change, however busy the machine is.
    for (let change = 0; change < CHANGES || codes.some((own) => own.length === 0); change += 1) {
      const { certificate } = await renew();
      expect(await presentedToOpenssl()).toBe(new X509Certificate(certificate).fingerprint256);
    }
    isOver = true;
    await Promise.all(clients);

    expect(codes.flat().filter((code) => code !== 0)).toEqual([]);
  });
});

/** Sends many requests one after another by one curl, which ends early, and with an error, if one fails. */
async function manyRequests(options: readonly string[]): Promise<CurlAnswer> {
  const url = `https://${APP}/?[1-${String(REQUESTS)}]`;
  const address = `${APP}:443:127.0.0.1:${String(world.tlsPort)}`;
  const trust = ['--cacert', world.caFile, '--connect-to', address];
  return await curl(url, '--fail', '--fail-early', ...trust, ...options);
}

/** Returns the fingerprint of the certificate that openssl gets. */
async function presentedToOpenssl(): Promise<string> {
  const trust = ['-CAfile', world.caFile, '-verify_return_error'];
  const printed = await opensslClient(world.tlsPort, ['-servername', APP, ...trust]);
  const [certificate = ''] = /-----BEGIN [^]+END CERTIFICATE-----/.exec(printed) ?? [];
  return new X509Certificate(certificate).fingerprint256;
}

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
