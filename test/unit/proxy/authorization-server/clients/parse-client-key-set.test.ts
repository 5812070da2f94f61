import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { parseClientKeySet } from '../../../../../proxy/authorization-server/clients/parse-client-key-set.ts';

type Members = Readonly<Record<string, unknown>>;

/** The example of RFC 7517, appendix A.1. */
const EC_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};

/** The example of RFC 8037, appendix A.2. */
const ED_KEY = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
};

/** A P-384 key, which no supported algorithm uses. */
const OTHER_CURVE = { kty: 'EC', crv: 'P-384', x: 'x', y: 'y' };

/** An odd number with this many bits, in base64url. */
function oddNumber(bits: number): string {
  const bytes = Buffer.alloc(Math.ceil(bits / 8));
  bytes[0] = 1 << ((bits - 1) % 8);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1;
  return bytes.toString('base64url');
}

function rsaKey(changes: Members = {}): Members {
  return { kty: 'RSA', n: oddNumber(2048), e: 'AQAB', ...changes };
}

describe('a key set of a client', () => {
  test.each<[string, Members]>([
    ['an RSA key of 2048 bits', rsaKey()],
    ['an RSA key of 4096 bits', rsaKey({ n: oddNumber(4096) })],
    ['an RSA key with the exponent 3', rsaKey({ e: 'Aw' })],
    ['an RSA key with an exponent of 33 bits', rsaKey({ e: oddNumber(33) })],
    ['an RSA key that node made', generateRsaKey()],
    ['an EC key', EC_KEY],
    ['an Ed25519 key', ED_KEY],
    ['a key for signatures', { ...EC_KEY, use: 'sig', alg: 'ES256', key_ops: ['verify'] }],
  ])('may have %s', (_title, key) => {
    expect(parseClientKeySet({ keys: [key] })).toEqual({ keys: [key] });
  });

  test.each<[string, unknown, string]>([
    ['no key', [], 'jwks must be a key set of 1 to 10 keys'],
    ['eleven keys', Array(11).fill(EC_KEY), 'jwks must be a key set of 1 to 10 keys'],
    ['a text', ['key'], 'jwks.keys[0] is not a key'],
    ['a key without a type', [{ ...EC_KEY, kty: undefined }], 'jwks.keys[0] is not a key'],
    ['a private key', [EC_KEY, { ...EC_KEY, d: 'd' }], 'jwks.keys[1] is a private key'],
    ['a symmetric key', [{ kty: 'oct', k: 'k' }], 'jwks.keys[0] is a private key'],
    ['an RSA key of 1024 bits', [rsaKey({ n: oddNumber(1024) })], 'jwks.keys[0] has 1024 bits'],
    ['an RSA key of 2047 bits', [rsaKey({ n: oddNumber(2047) })], 'jwks.keys[0] has 2047 bits'],
    [
      'an RSA key of 1024 bits after zeros',
      [
        rsaKey({
          n: Buffer.concat([Buffer.alloc(129), Buffer.from(oddNumber(1024), 'base64url')]).toString(
            'base64url',
          ),
        }),
      ],
      'jwks.keys[0] has 1024 bits',
    ],
    ['an RSA key of 4097 bits', [rsaKey({ n: oddNumber(4097) })], 'jwks.keys[0] has 4097 bits'],
    [
      'an RSA key of 16384 bits',
      [rsaKey({ n: oddNumber(16384) })],
      'jwks.keys[0] has an unusable n',
    ],
    ['the exponent 0', [rsaKey({ e: 'AA' })], 'jwks.keys[0] is not an RSA key'],
    ['the exponent 1', [rsaKey({ e: 'AQ' })], 'jwks.keys[0] is not an RSA key'],
    ['an even exponent', [rsaKey({ e: 'AQAA' })], 'jwks.keys[0] is not an RSA key'],
    ['an exponent of 34 bits', [rsaKey({ e: oddNumber(34) })], 'jwks.keys[0] has an exponent'],
    ['an exponent of 2047 bits', [rsaKey({ e: oddNumber(2047) })], 'jwks.keys[0] has an exponent'],
    ['an even modulus', [rsaKey({ n: `${oddNumber(2048).slice(0, -1)}A` })], 'jwks.keys[0] is not'],
    ['a modulus that is not base64url', [rsaKey({ n: '+/==' })], 'jwks.keys[0] has an unusable n'],
    ['no exponent', [rsaKey({ e: undefined })], 'jwks.keys[0] has an unusable e'],
    ['a short coordinate', [{ ...EC_KEY, x: 'AQ' }], 'jwks.keys[0] has an unusable x'],
    ['no y', [{ ...EC_KEY, y: undefined }], 'jwks.keys[0] has an unusable y'],
    ['a point beside its curve', [{ ...EC_KEY, y: EC_KEY.x }], 'jwks.keys[0] is not a key'],
    ['a long Ed25519 key', [{ ...ED_KEY, x: `${ED_KEY.x}AAAA` }], 'jwks.keys[0] has an unusable x'],
    ['an endless kid', [{ ...EC_KEY, kid: 'x'.repeat(257) }], 'jwks.keys[0] has an unusable kid'],
    ['a kid that is no text', [{ ...EC_KEY, kid: [{}] }], 'jwks.keys[0] has an unusable kid'],
    ['operations that are no list', [{ ...EC_KEY, key_ops: 'verify' }], 'unusable key_ops'],
    ['two keys without kid', [EC_KEY, ED_KEY], 'jwks has several keys, and one of them has no kid'],
    [
      'two keys with one kid',
      [
        { ...EC_KEY, kid: 'k' },
        { ...ED_KEY, kid: 'k' },
      ],
      'jwks has two keys with the same kid',
    ],
    ['only keys of other kinds', [OTHER_CURVE], 'no key that verifies client assertions'],
    ['only a key that encrypts', [{ ...EC_KEY, use: 'enc' }], 'no key that verifies'],
    ['only a key for another operation', [{ ...EC_KEY, key_ops: ['deriveKey'] }], 'no key that'],
    ['only a key of another algorithm', [{ ...EC_KEY, alg: 'ES384' }], 'no key that verifies'],
    ['only a key for RSA-OAEP', [rsaKey({ alg: 'RSA-OAEP' })], 'no key that verifies'],
    ['only an RSA key for ES256', [rsaKey({ alg: 'ES256' })], 'no key that verifies'],
    ['a key type from the prototype', [{ kty: 'toString' }], 'no key that verifies'],
  ])('is refused with %s', (_title, keys, description) => {
    expect(() => parseClientKeySet({ keys })).toThrow(
      expect.objectContaining({
        code: 'invalid_client_metadata',
        description: expect.stringContaining(description),
      }),
    );
  });

  test('leaves out the keys that do not verify client assertions', () => {
    const keys = [EC_KEY, OTHER_CURVE, { ...EC_KEY, use: 'enc' }];
    expect(parseClientKeySet({ keys })).toEqual({ keys: [EC_KEY] });
  });

  // Attack: a stranger registers keys full of junk until the gateway is out of memory.
  test('keeps the members that make up a key, and no others', () => {
    const key = { ...EC_KEY, kid: 'one', use: 'sig', alg: 'ES256', key_ops: ['verify'] };
    const junk = { x5c: ['x'.repeat(1000)], junk: [[1], {}], ext: true, n: 'x', e: 'x' };
    expect(parseClientKeySet({ keys: [{ ...key, ...junk }], junk })).toEqual({ keys: [key] });
  });
});

function generateRsaKey(): Members {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
  return { ...publicKey.export({ format: 'jwk' }) };
}
