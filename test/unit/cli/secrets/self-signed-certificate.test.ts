import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';

import { describe, expect, test } from '@jest/globals';

import { makeSelfSignedCertificate } from '../../../../cli/secrets/self-signed-certificate.ts';

const HOST = 'gatehouse-controller.gatehouse.svc';
const DAY = 24 * 60 * 60 * 1000;

function made(validTo = new Date(Date.now() + DAY)) {
  return makeSelfSignedCertificate({
    name: 'gatehouse-push',
    hosts: [HOST, `${HOST}.cluster.local`],
    validFrom: new Date(Date.now() - DAY),
    validTo,
  });
}

describe('makeSelfSignedCertificate', () => {
  test('makes a certificate for its hosts and no others, which signs nothing else', () => {
    const { certificate, privateKey } = made();
    const parsed = new X509Certificate(certificate);

    expect(parsed.checkHost(HOST)).toBe(HOST);
    expect(parsed.checkHost(`${HOST}.cluster.local`)).toBeDefined();
    expect(parsed.checkHost('other.gatehouse.svc')).toBeUndefined();
    expect(parsed.ca).toBe(false);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  test('writes times from 2050 on with four digits of the year', () => {
    const validTo = new Date('2051-02-03T04:05:06Z');

    expect(new X509Certificate(made(validTo).certificate).validToDate).toEqual(validTo);
  });

  test('makes a certificate that clients accept which trust it', async () => {
    const { certificate, privateKey } = made();
    const server = createServer({ cert: certificate, key: privateKey }, (socket) => socket.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const reach = async (ca: string, servername: string): Promise<TLSSocket> => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername });
      await once(socket, 'secureConnect');
      socket.destroy();
      return socket;
    };

    try {
      expect((await reach(certificate, HOST)).authorized).toBe(true);
      await expect(reach(made().certificate, HOST)).rejects.toThrow(/self-signed certificate/);
      await expect(reach(certificate, 'other.svc')).rejects.toThrow(/altnames/);
    } finally {
      server.close();
    }
  });
});
