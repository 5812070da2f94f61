import { describe, expect } from '@jest/globals';
import { createHash } from 'node:crypto';

import { isCodeChallenge, verifiesChallenge } from '../../../../proxy/authorization-server/pkce.ts';
import { verifies } from '../../../requirements/verifies.ts';

// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('verifiesChallenge', () => {
  verifies('as.pkce-verifier', 'accepts the example of the RFC', () => {
    expect(verifiesChallenge(VERIFIER, CHALLENGE)).toBe(true);
  });

  verifies('as.pkce-verifier', 'refuses another verifier', () => {
    expect(verifiesChallenge(`${VERIFIER}x`, CHALLENGE)).toBe(false);
  });

  verifies(
    ['as.pkce-verifier', 'as.pkce-required'],
    'refuses the challenge itself, which is plain PKCE',
    () => {
      expect(verifiesChallenge(CHALLENGE, CHALLENGE)).toBe(false);
    },
  );

  const VERIFIERS: readonly (readonly [string, string, boolean])[] = [
    ['43 characters', 'a'.repeat(43), true],
    ['128 characters', 'a'.repeat(128), true],
    ['every unreserved character', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-._~0123456789abc', true],
    ['no character', '', false],
    ['42 characters', 'a'.repeat(42), false],
    ['129 characters', 'a'.repeat(129), false],
    ['a space', `${'a'.repeat(43)} `, false],
    ['a line break', `${'a'.repeat(43)}\n`, false],
    ['an umlaut', `${'a'.repeat(43)}ä`, false],
  ];

  for (const [what, verifier, expected] of VERIFIERS) {
    verifies('as.pkce-verifier', `checks the form of a verifier with ${what}`, () => {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      expect(verifiesChallenge(verifier, challenge)).toBe(expected);
    });
  }
});

describe('isCodeChallenge', () => {
  const CHALLENGES: readonly (readonly [string, string, boolean])[] = [
    ['of the RFC', CHALLENGE, true],
    ['that is too short', 'a'.repeat(42), false],
    ['that is too long', 'a'.repeat(44), false],
    ['in base64', `${'a'.repeat(42)}+`, false],
    ['with padding', `${'a'.repeat(43)}=`, false],
    ['with a line break', `${'a'.repeat(43)}\n`, false],
  ];

  for (const [what, challenge, expected] of CHALLENGES) {
    verifies('as.pkce-verifier', `checks a challenge ${what}`, () => {
      expect(isCodeChallenge(challenge)).toBe(expected);
    });
  }
});
