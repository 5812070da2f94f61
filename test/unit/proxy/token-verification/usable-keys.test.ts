import { expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, generateSecret } from 'jose';
import { generateKeyPairSync } from 'node:crypto';

import { usableKeys } from '../../../../proxy/token-verification/usable-keys.ts';

const EC = await keyPair('ES256');
const RSA = await keyPair('RS256');

async function keyPair(algorithm: string) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { public: await exportJWK(publicKey), private: await exportJWK(privateKey) };
}

test.each([
  ['an EC key', EC.public],
  ['an RSA key', RSA.public],
  ['a key for signatures', { ...EC.public, use: 'sig', kid: 'one' }],
])('%s verifies tokens', (_name, key) => {
  expect(usableKeys([key])).toEqual([key]);
});

test.each<readonly [string, unknown]>([
  ['a key for encryption', { ...EC.public, use: 'enc' }],
  ['a private EC key', EC.private],
  ['a private RSA key', RSA.private],
  ['a symmetric key', await exportJWK(await generateSecret('HS256', { extractable: true }))],
  ['an RSA key of 1024 bits', weakKey()],
  ['an RSA key without a modulus', { kty: 'RSA', e: 'AQAB' }],
  ['a key of an unknown type', { kty: 'XYZ' }],
  ['a text', 'key'],
  ['nothing', null],
])('%s is ignored', (_name, key) => {
  expect(usableKeys([key, EC.public])).toEqual([EC.public]);
});

function weakKey() {
  return generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
}
