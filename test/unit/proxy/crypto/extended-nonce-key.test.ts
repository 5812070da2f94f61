import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

import { expect, test } from '@jest/globals';

import { ExtendedNonceKey } from '../../../../proxy/crypto/extended-nonce-key.ts';

const TAG_BYTES = 16;

/** XAES-256-GCM, from the derived keys. */
function encrypt(key: Buffer, nonce: Buffer, text: Buffer, context: Buffer): Buffer {
  const derived = new ExtendedNonceKey(key).messageKeyOf(nonce);
  const cipher = createCipheriv('aes-256-gcm', derived.key, derived.iv);
  cipher.setAAD(context);
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, nonce: Buffer, sealed: Buffer, context: Buffer): Buffer {
  const derived = new ExtendedNonceKey(key).messageKeyOf(nonce);
  const decipher = createDecipheriv('aes-256-gcm', derived.key, derived.iv);
  decipher.setAAD(context);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
}

test.each([
  [1, '', 'ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271'],
  [3, 'c2sp.org/XAES-256-GCM', '986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d'],
])('the key of %i bytes gives the test vector of XAES-256-GCM', (fill, context, expected) => {
  const key = Buffer.alloc(32, fill);
  const nonce = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWX');
  const sealed = encrypt(key, nonce, Buffer.from('XAES-256-GCM'), Buffer.from(context));
  expect(sealed.toString('hex')).toBe(expected);
  expect(decrypt(key, nonce, sealed, Buffer.from(context)).toString()).toBe('XAES-256-GCM');
});

test('random inputs give the accumulated test vector of XAES-256-GCM', () => {
  // 10,000 encryptions of inputs from SHAKE128, as the specification prescribes.
  const input = new Shake();
  const outputs = createHash('shake128', { outputLength: 32 });
  for (let round = 0; round < 10_000; round += 1) {
    const [key, nonce] = [input.read(32), input.read(24)];
    const text = input.read(input.read(1)[0] ?? 0);
    const context = input.read(input.read(1)[0] ?? 0);
    const sealed = encrypt(key, nonce, text, context);
    expect(decrypt(key, nonce, sealed, context).equals(text)).toBe(true);
    outputs.update(sealed);
  }
  expect(outputs.digest('hex')).toBe(
    'e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939',
  );
});

test('one key object derives keys for many messages, each from its nonce alone', () => {
  const key = new ExtendedNonceKey(Buffer.alloc(32, 7));
  const nonces = Array.from({ length: 50 }, () => randomBytes(24));
  const first = nonces.map((nonce) => key.messageKeyOf(nonce));
  expect(nonces.map((nonce) => key.messageKeyOf(nonce))).toEqual(first);
  expect(new Set(first.map((derived) => derived.key.toString('hex'))).size).toBe(nonces.length);
});

test('a nonce or a key of another length is an error', () => {
  const key = new ExtendedNonceKey(Buffer.alloc(32));
  expect(() => key.messageKeyOf(Buffer.alloc(12))).toThrow('24 bytes');
  expect(() => new ExtendedNonceKey(Buffer.alloc(16))).toThrow();
});

/** Bytes of SHAKE128 of the empty input. */
class Shake {
  readonly #bytes = createHash('shake128', { outputLength: 8_000_000 }).digest();
  #read = 0;

  read(length: number): Buffer {
    const bytes = this.#bytes.subarray(this.#read, this.#read + length);
    this.#read += length;
    return bytes;
  }
}
