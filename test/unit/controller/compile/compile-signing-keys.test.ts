import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';
import { calculateJwkThumbprint } from 'jose';

import { compileSigningKeys } from '../../../../controller/compile/compile-signing-keys.ts';
import type { Secrets } from '../../../../controller/compile/resources.ts';
import { aSettings } from '../../../support/resources.ts';

const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ED25519 = generateKeyPairSync('ed25519').privateKey;

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

function keysInSecret(values: Readonly<Record<string, string | Buffer>>): Secrets {
  const entries = Object.entries(values).map(([key, value]) => [key, Buffer.from(value)] as const);
  return new Map([['default/keys', new Map(entries)]]);
}

function compileKey(value: string | Buffer): ReturnType<typeof compileSigningKeys> {
  const settings = aSettings({ signingKeyRefs: [{ name: 'keys', key: 'a' }] });
  return compileSigningKeys(settings, keysInSecret({ a: value }));
}

describe('a signing key', () => {
  test.each([
    ['an EC P-256 key in PKCS #8', pkcs8(EC), 'ES256', EC],
    ['an EC P-256 key in SEC 1', EC.export({ type: 'sec1', format: 'pem' }), 'ES256', EC],
    ['an RSA key of 2048 bits', pkcs8(RSA), 'RS256', RSA],
    ['an Ed25519 key', pkcs8(ED25519), 'EdDSA', ED25519],
  ])('is %s', async (_title, pem, algorithm, key) => {
    const keyId = await calculateJwkThumbprint(createPublicKey(key).export({ format: 'jwk' }));

    expect(compileKey(pem)).toEqual({
      kind: 'made',
      value: { kind: 'signing-keys', keys: [{ keyId, algorithm, privateKey: pkcs8(key) }] },
    });
    expect(compileKey(Buffer.from(pem))).toEqual(compileKey(pem));
  });

  test('may have its own key ID', () => {
    const settings = aSettings({ signingKeyRefs: [{ name: 'keys', key: 'a', keyId: '2026-11' }] });

    expect(compileSigningKeys(settings, keysInSecret({ a: pkcs8(EC) }))).toMatchObject({
      value: { keys: [{ keyId: '2026-11' }] },
    });
  });

  const NO_KEY = 'must refer to a private key in PEM (PKCS #8 or SEC 1), not encrypted';
  const OTHER_KEY = 'must refer to an EC P-256, RSA (at least 2048 bits) or Ed25519 key';

  test.each([
    ['no key', 'secret-value', NO_KEY],
    ['an encrypted key', encrypted(), NO_KEY],
    ['a public key', createPublicKey(EC).export({ type: 'spki', format: 'pem' }), NO_KEY],
    ['an RSA key of 1024 bits', weakRsa(), OTHER_KEY],
    ['an EC P-384 key', otherCurve(), OTHER_KEY],
    ['nothing', '\n', 'key "a" of Secret default/keys is empty'],
    ['no text', Buffer.from([0xff]), 'key "a" of Secret default/keys is not text in UTF-8'],
  ])('is not %s', (_title, value, message) => {
    expect(compileKey(value)).toEqual({
      kind: 'invalid',
      problems: [{ path: 'spec.signingKeyRefs[0]', reason: 'InvalidSecret', message }],
    });
  });

  function encrypted(): string {
    const options = { cipher: 'aes-256-cbc', passphrase: 'secret-value' };
    return EC.export({ type: 'pkcs8', format: 'pem', ...options });
  }

  function weakRsa(): string {
    return pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
  }

  function otherCurve(): string {
    return pkcs8(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey);
  }
});

describe('several signing keys', () => {
  test('keep their order, since the first one signs', () => {
    const refs = ['b', 'a'].map((key) => ({ name: 'keys', key, keyId: key }));
    const secrets = keysInSecret({ a: pkcs8(EC), b: pkcs8(RSA) });

    expect(compileSigningKeys(aSettings({ signingKeyRefs: refs }), secrets)).toMatchObject({
      value: { keys: [{ keyId: 'b' }, { keyId: 'a' }] },
    });
  });

  test('have different key IDs', () => {
    const refs = [
      { name: 'keys', key: 'a' },
      { name: 'keys', key: 'a' },
    ];

    const outcome = compileSigningKeys(
      aSettings({ signingKeyRefs: refs }),
      keysInSecret({ a: pkcs8(EC) }),
    );

    expect(outcome).toMatchObject({
      problems: [
        { path: 'spec.signingKeyRefs[1]', message: 'has the same key ID as an earlier key' },
      ],
    });
  });

  test.each([
    [{ name: 'other', key: 'a' }, 'there is no Secret default/other'],
    [{ name: 'keys', key: 'b' }, 'Secret default/keys has no key "b"'],
  ])('are not found at %j', (ref, message) => {
    const settings = aSettings({ signingKeyRefs: [ref] });

    expect(compileSigningKeys(settings, keysInSecret({ a: pkcs8(EC) }))).toEqual({
      kind: 'invalid',
      problems: [{ path: 'spec.signingKeyRefs[0]', reason: 'SecretNotFound', message }],
    });
  });

  test('are read only from the namespace of the settings', () => {
    const settings = aSettings(
      { signingKeyRefs: [{ name: 'keys', key: 'a' }] },
      { namespace: 'elsewhere' },
    );

    expect(compileSigningKeys(settings, keysInSecret({ a: pkcs8(EC) })).kind).toBe('invalid');
  });
});
