import { createPrivateKey, generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { readCertificatePair } from '../../../../../controller/compile/certificates/read-certificate.ts';
import { createThrowawayAuthority } from '../../../../support/throwaway-authority.ts';

const authority = createThrowawayAuthority();
const HOSTS = ['app.example.com', '*.Example.com', '10.0.0.1'];
const { cert, key } = authority.issue(HOSTS);
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
const unknownCurve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });

function read(certificate: string, privateKey: string): ReturnType<typeof readCertificatePair> {
  return readCertificatePair({
    certificate: Buffer.from(certificate),
    privateKey: Buffer.from(privateKey),
  });
}

/** Replaces bytes of a certificate, whose signature nobody checks here. */
function edited(pem: string, from: string, to: string): string {
  const der = Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64').toString('latin1');
  expect(der).toContain(from);
  const bytes = Buffer.from(der.replace(from, to), 'latin1').toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${bytes}\n-----END CERTIFICATE-----\n`;
}

describe('a certificate in a Secret', () => {
  test('is read with its names, its end and its authorities, in order', () => {
    const read1 = read(`subject=app\n${cert}\n${authority.ca}`, key);

    expect(read1).toEqual({
      kind: 'usable',
      certificate: {
        content: {
          certificate: cert + authority.ca,
          privateKey: key,
          hosts: ['app.example.com', '*.example.com', '10.0.0.1'],
          notAfter: Date.parse('2049-12-31T23:59:59Z') / 1000,
        },
        notBefore: Date.parse('2020-01-01T00:00:00Z') / 1000,
      },
    });
  });

  test.each(['pkcs1', 'pkcs8'] as const)('may have an RSA key in %s', (type) => {
    const { cert: certificate } = authority.issue(HOSTS, { keys: rsa });
    const result = read(certificate, rsa.privateKey.export({ type, format: 'pem' }));

    expect(result).toMatchObject({
      certificate: {
        content: { privateKey: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
      },
    });
  });

  test('may have an EC key in SEC 1', () => {
    const sec1 = createPrivateKey(key).export({ type: 'sec1', format: 'pem' });

    expect(read(cert, sec1)).toMatchObject({ certificate: { content: { privateKey: key } } });
  });

  const encrypted = createPrivateKey(key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  });
  const other = authority.issue(HOSTS);
  const weakPair = authority.issue(HOSTS, { keys: weak });
  const curvePair = authority.issue(HOSTS, { keys: unknownCurve });
  const clientPair = authority.issue(HOSTS, { purpose: 2 });
  const nameless = authority.issue([]);
  const ancient = authority.issue(HOSTS, { validTo: new Date('1960-01-01T00:00:00Z') });
  const timeless = edited(cert, '491231235959Z', '491331235959Z');
  const unbegun = edited(cert, '200101000000Z', '201301000000Z');
  const NO_TIME = 'its certificate has no valid time, or one that ended before 1970';

  test.each<[why: string, certificate: string, privateKey: string]>([
    ['its tls.crt has no certificate in PEM', '', key],
    ['its tls.crt has no certificate in PEM', 'words', key],
    ['its tls.crt has a certificate that cannot be read', cert.replaceAll('M', 'N'), key],
    ['its tls.crt has something else than certificates', cert + key, key],
    ['its tls.key is not a private key in PEM without password', cert, ''],
    ['its tls.key is not a private key in PEM without password', cert, cert],
    ['its tls.key is not a private key in PEM without password', cert, encrypted],
    ['its tls.key does not belong to its tls.crt', cert, other.key],
    [
      'the certificate of its tls.key must be the first in tls.crt, and is number 2',
      authority.ca + cert,
      key,
    ],
    ['its RSA key has 1024 bits, and less than 2048 are too weak', weakPair.cert, weakPair.key],
    [
      'the curve of its key is none of P-256, P-384 and P-521, which clients know',
      curvePair.cert,
      curvePair.key,
    ],
    ['its certificate is not for servers (extended key usage)', clientPair.cert, clientPair.key],
    ['its certificate names no host (subject alternative name)', nameless.cert, nameless.key],
    [NO_TIME, ancient.cert, ancient.key],
    [NO_TIME, timeless, key],
    [NO_TIME, unbegun, key],
    ['OpenSSL refuses to serve it (ca key too small)', cert + weakPair.cert, key],
    [
      'its tls.crt has certificates of more than 100 KiB together, which clients refuse',
      cert + authority.ca.repeat(400),
      key,
    ],
  ])('cannot be used: %s', (why, certificate, privateKey) => {
    expect(read(certificate, privateKey)).toEqual({ kind: 'unusable', why });
  });

  test('is not for an address that is none', () => {
    const pair = authority.issue(['app.example.com', 'abc']);
    const certificate = edited(pair.cert, '\x82\x03abc', '\x87\x03abc');

    expect(read(certificate, pair.key)).toMatchObject({
      certificate: { content: { hosts: ['app.example.com'] } },
    });
  });

  test('for servers only can be used', () => {
    const pair = authority.issue(HOSTS, { purpose: 1 });

    expect(read(pair.cert, pair.key).kind).toBe('usable');
  });

  // Made by `openssl x509 -req -sha1`: nothing in Node signs with SHA-1 by itself.
  test('that is signed with SHA-1 cannot be used', () => {
    expect(read(SIGNED_WITH_SHA1.cert, SIGNED_WITH_SHA1.key)).toEqual({
      kind: 'unusable',
      why: 'certificate 1 of tls.crt is signed with SHA-1 or MD5, which clients refuse',
    });
  });
});

const SIGNED_WITH_SHA1 = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBdjCCARygAwIBAgIUOLEl9Ut6Yw9TxwycCy10L/aWupMwCQYHKoZIzj0EATAN
MQswCQYDVQQDDAJDQTAeFw0yNjExMjMwNjUyNTdaFw00ODEwMTgwNjUyNTdaMAwx
CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATxsGcZ7XKRvYZo
zpJZJvHpvcjVMj05rntYdv4t2/mxCtk11t39AbyffYj17WJoBVCqFOlrhJ0OX9/v
F2KJwT1Ro1wwWjAYBgNVHREEETAPgg1hLmV4YW1wbGUuY29tMB0GA1UdDgQWBBQs
TVJ/NfDlZtJmGlkTp2tM+RgriTAfBgNVHSMEGDAWgBTy0EncZZRk8y9IZp9jAI3w
r/XgCjAJBgcqhkjOPQQBA0kAMEYCIQDyVn0265BixjyQp6QgrxWAC8PB9M6KvDG1
a8ifAteiXwIhAKbuPiKiPC0Dg6uarNUs4MH+R5ilTlbdV5rpLRH1P8AA
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggwtpM7sTpaknXbFk
n2mmpC0R4ev3iues3hpI4b/MgIuhRANCAATxsGcZ7XKRvYZozpJZJvHpvcjVMj05
rntYdv4t2/mxCtk11t39AbyffYj17WJoBVCqFOlrhJ0OX9/vF2KJwT1R
-----END PRIVATE KEY-----
`,
};
