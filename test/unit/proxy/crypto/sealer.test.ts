import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import type { SealingKey } from '../../../../proxy/crypto/sealing-key.ts';

const TEXT = 'a refresh token';
const CONTEXT = 'record 1';

function aKey(fill: number, length = 32): SealingKey {
  return { secret: Buffer.alloc(length, fill) };
}

describe('a sealed text', () => {
  const sealer = new Sealer([aKey(1)]);
  const sealed = sealer.seal(TEXT, CONTEXT);

  test('opens with its key and for its context only', () => {
    expect(sealer.open(sealed, CONTEXT)).toBe(TEXT);
    expect(sealer.open(sealed, 'record 2')).toBeNull();
    expect(new Sealer([aKey(2)]).open(sealed, CONTEXT)).toBeNull();
  });

  test('differs every time', () => {
    expect(sealer.seal(TEXT, CONTEXT)).not.toBe(sealed);
  });

  test('does not open if any of its bytes changed', () => {
    const bytes = Buffer.from(sealed, 'base64url');
    for (const [index, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[index] = byte ^ 1;
      expect(sealer.open(changed.toString('base64url'), CONTEXT)).toBeNull();
    }
  });

  test.each(['', 'x', sealed.slice(0, 40), `${sealed}=`, `${sealed} `])(
    'is never "%s"',
    (other) => {
      expect(sealer.open(other, CONTEXT)).toBeNull();
    },
  );

  // Random nonces of 12 bytes would limit a key to 2^32 texts (NIST SP 800-38D, section 8.3).
  test('has a nonce of 24 bytes, and by it a key of its own', () => {
    const parts = { keyId: 8, nonce: 24, tag: 16 };
    const lengths = Object.values(parts).reduce((sum, length) => sum + length, TEXT.length);
    expect(Buffer.from(sealed, 'base64url')).toHaveLength(lengths);
    const nonces = Array.from({ length: 100 }, () => {
      const bytes = Buffer.from(sealer.seal(TEXT, CONTEXT), 'base64url');
      return bytes.toString('hex', parts.keyId, parts.keyId + parts.nonce);
    });
    expect(new Set(nonces).size).toBe(100);
  });

  test('does not hold the bytes of its key', () => {
    const key = aKey(7);
    const bytes = Buffer.from(new Sealer([key]).seal(TEXT, CONTEXT), 'base64url');
    expect(bytes).not.toContain(key.secret.subarray(0, 8));
  });
});

test('keys that begin alike are different keys', () => {
  const sealed = new Sealer([aKey(1, 32)]).seal(TEXT, CONTEXT);
  expect(new Sealer([aKey(1, 33)]).open(sealed, CONTEXT)).toBeNull();
});

describe('a text that an earlier release sealed with a short nonce', () => {
  const sealer = new Sealer([aKey(1)]);
  const earlier = 'XT6oAylruoeSK1ZjQ3Y5seNHFJ6Y9a3m7OvbZg04QSl0YLbj33JrdLd7tD1NtzUoI37h';

  test('opens with its key and for its context only', () => {
    expect(sealer.open(earlier, CONTEXT)).toBe(TEXT);
    expect(new Sealer([aKey(2), aKey(1)]).open(earlier, CONTEXT)).toBe(TEXT);
    expect(sealer.open(earlier, 'record 2')).toBeNull();
    expect(new Sealer([aKey(2)]).open(earlier, CONTEXT)).toBeNull();
  });

  test('is sealed again when it is used', () => {
    expect(sealer.isSealedByFirst(earlier)).toBe(false);
    expect(sealer.isSealedByFirst(sealer.seal(TEXT, CONTEXT))).toBe(true);
  });

  test('does not open in the other form', () => {
    const short = Buffer.from(earlier, 'base64url');
    const long = Buffer.from(sealer.seal(TEXT, CONTEXT), 'base64url');
    const swapped = [
      Buffer.concat([long.subarray(0, 8), short.subarray(8)]),
      Buffer.concat([short.subarray(0, 8), long.subarray(8)]),
    ];
    for (const bytes of swapped)
      expect(sealer.open(bytes.toString('base64url'), CONTEXT)).toBeNull();
  });
});

test('a text of a key that is gone is distinguished from a text that nobody sealed', () => {
  const sealed = new Sealer([aKey(1)]).seal(TEXT, CONTEXT);
  const later = new Sealer([aKey(2)]);

  expect(later.isOfUnknownKey(sealed)).toBe(true);
  expect(later.isOfUnknownKey(later.seal(TEXT, CONTEXT))).toBe(false);
  expect(new Sealer([aKey(2), aKey(1)]).isOfUnknownKey(sealed)).toBe(false);
  for (const malformed of ['', 'x', `${sealed}=`, sealed.slice(0, 40), 'no base64url']) {
    expect(later.isOfUnknownKey(malformed)).toBe(false);
  }
});

describe('a rotation of keys with several proxies', () => {
  const [old, next] = [aKey(1), aKey(2)];
  /** What a proxy has before a step of the rotation is rolled out to it, and after. */
  const steps: readonly (readonly [string, Sealer, Sealer])[] = [
    ['adding the key, to open only', new Sealer([old]), new Sealer([old, next])],
    ['making it the one that seals', new Sealer([old, next]), new Sealer([next, old])],
    ['removing the other one', new Sealer([next, old]), new Sealer([next])],
  ];

  test.each(steps)('lets every proxy open what any proxy seals while %s', (step, before, after) => {
    const isLast = step === 'removing the other one';
    const sealed = [before, after].map((sealer) => sealer.seal(TEXT, CONTEXT));
    for (const sealer of [before, after]) {
      expect(sealed.map((value) => sealer.open(value, CONTEXT))).toEqual([TEXT, TEXT]);
    }
    // What the old key sealed lives on until the last step.
    const oldest = new Sealer([old]).seal(TEXT, CONTEXT);
    expect(after.open(oldest, CONTEXT)).toBe(isLast ? null : TEXT);
  });
});
