import { randomBytes } from 'node:crypto';

import { expect, test } from '@jest/globals';

import { Sealer, type Sealed } from '../../../../proxy/crypto/sealer.ts';
import {
  hashToken,
  isTokenHash,
  randomToken,
  type TokenHash,
} from '../../../../proxy/crypto/tokens.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';

test('a hash has the form that records of hashes are checked for', () => {
  expect(isTokenHash(hashToken(randomToken()))).toBe(true);
  expect([undefined, '', 'gte_x', `${hashToken('a')}b`].filter(isTokenHash)).toEqual([]);
});

test('a bearer value in place of its hash does not compile', async () => {
  const { authorizationCodes, browserSessions, refreshTokens, signInCodes } = createMemoryStores();
  const token: string = randomToken();
  // @ts-expect-error -- a string is not the hash of a token
  const hash: TokenHash = token;
  // @ts-expect-error -- a code must be hashed
  expect(await authorizationCodes.peek(token)).toBeNull();
  // @ts-expect-error -- the value of a cookie must be hashed
  expect(await browserSessions.get(token)).toBeNull();
  // @ts-expect-error -- a refresh token must be hashed
  expect(await refreshTokens.stateOf({ grantId: 'g', generation: 0, hash: token })).toBeNull();
  // @ts-expect-error -- a sign-in code must be hashed
  expect(await signInCodes.peek(token)).toBeNull();
  expect(await authorizationCodes.peek(hashToken(hash))).toBeNull();
});

test('text that was not sealed does not compile where sealed text is needed', () => {
  const sealer = new Sealer([{ secret: randomBytes(32) }]);
  const sealed: Sealed = sealer.seal('text', 'context');
  // @ts-expect-error -- only a sealer makes it
  const notSealed: Sealed = 'text';
  expect([sealed, notSealed].map((text) => sealer.open(text, 'context'))).toEqual(['text', null]);
});
