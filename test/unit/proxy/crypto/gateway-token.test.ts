import { randomBytes } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import {
  formatGatewayToken,
  holdsGatewayToken,
  isGatewayToken,
  readGatewayToken,
} from '../../../../proxy/crypto/gateway-token.ts';
import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import { filesThatSpell } from '../../../support/spellings.ts';

const sealed = new Sealer([{ secret: randomBytes(32) }]).seal('claims', 'test');
const KINDS = ['external', 'refresh'] as const;

describe.each(KINDS)('a token of kind %s', (kind) => {
  const token = formatGatewayToken(kind, sealed);

  test('gives back what was sealed', () => {
    expect(readGatewayToken(kind, token)).toBe(sealed);
  });

  test.each(['', sealed, token.toUpperCase(), ` ${token}`])('is not read from %j', (other) => {
    expect(readGatewayToken(kind, other)).toBeNull();
  });

  test('is not a token of another kind', () => {
    expect(KINDS.filter((each) => isGatewayToken(each, token))).toEqual([kind]);
  });

  test.each(['Bearer ', 'bearer   ', 'Basic x, Bearer ', 'Basic x,', ''])(
    'is found in an Authorization value after %j',
    (before) => {
      expect(holdsGatewayToken(before + token)).toBe(true);
    },
  );

  test('is not found within another word', () => {
    expect(holdsGatewayToken(`Bearer x-${token}`)).toBe(false);
  });
});

test('only one file spells the prefixes of tokens', () => {
  expect(filesThatSpell(/gte_|gtr_|te\|tr|gt\[er\]/)).toEqual([
    'shared/runtime/gateway-token-prefixes.ts',
  ]);
});
