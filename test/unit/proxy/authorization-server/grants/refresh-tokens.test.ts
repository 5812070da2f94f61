import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../../proxy/crypto/sealer.ts';
import { randomToken } from '../../../../../proxy/crypto/tokens.ts';
import { RefreshTokens } from '../../../../../proxy/authorization-server/grants/refresh-tokens.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const sealer = new Sealer([{ secret: Buffer.alloc(32, 1) }]);
const tokens = new RefreshTokens(sealer);

/** Seals a text as refresh tokens are sealed. */
function sealed(value: unknown): string {
  return `gtr_${sealer.seal(JSON.stringify(value), 'refresh-token')}`;
}

describe('A refresh token', () => {
  test('reveals its grant and its generation to the holder of the key', () => {
    const first = tokens.firstOf('grant-1');
    const second = tokens.successorOf(first.reference);
    expect(tokens.open(first.token)).toEqual(first.reference);
    expect(tokens.open(second.token)).toEqual(second.reference);
    expect(first.reference).toMatchObject({ grantId: 'grant-1', generation: 0 });
    expect(second.reference).toMatchObject({ grantId: 'grant-1', generation: 1 });
  });

  test('is different each time, and so is its hash', () => {
    const made = Array.from({ length: 10 }, () => tokens.firstOf('grant-1'));
    expect(new Set(made.map(({ token }) => token)).size).toBe(10);
    expect(new Set(made.map(({ reference }) => reference.hash)).size).toBe(10);
  });

  test('is short enough for every form', () => {
    const { reference } = tokens.firstOf(randomToken());
    const late = tokens.successorOf({ ...reference, generation: 1_000_000_000 });
    expect(late.token.length).toBeLessThan(256);
    expect(tokens.open(late.token)).toEqual(late.reference);
  });

  const { token } = tokens.firstOf('grant-1');
  const otherKey = new RefreshTokens(new Sealer([{ secret: Buffer.alloc(32, 2) }]));

  for (const [what, other] of [
    ['is empty', 'gtr_'],
    ['is random', randomToken('gtr_')],
    ['lacks its prefix', token.slice(4)],
    ['has another prefix', `gte_${token.slice(4)}`],
    ['goes on', `${token}A`],
    ['was changed', `${token.slice(0, 60)}${token[60] === 'A' ? 'B' : 'A'}${token.slice(61)}`],
    ['was sealed with another key', otherKey.firstOf('grant-1').token],
    ['was sealed for something else', `gtr_${sealer.seal('["grant-1",0,""]', 'external-token')}`],
    ['is too long', sealed(['x'.repeat(2000), 0, ''])],
    ['says too little', sealed(['grant-1', 0])],
    ['says too much', sealed(['grant-1', 0, '', ''])],
    ['has no generation', sealed(['grant-1', '0', ''])],
    ['is no list', sealed({ grantId: 'grant-1' })],
  ] as const) {
    verifies('as.token-errors', `that ${what} is refused`, () => {
      expect(tokens.open(other)).toBeNull();
    });
  }
});
