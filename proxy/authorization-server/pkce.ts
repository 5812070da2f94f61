import { createHash } from 'node:crypto';

import { equalSecrets } from '../crypto/tokens.ts';

/** sha256 in base64url. */
const CODE_CHALLENGE = /^[\w-]{43}$/;

/** RFC 7636, section 4.1: 43 to 128 unreserved characters. */
const CODE_VERIFIER = /^[\w.~-]{43,128}$/;

/** Returns whether a text has the form of an S256 challenge (RFC 7636, section 4.2). */
export function isCodeChallenge(text: string): boolean {
  return CODE_CHALLENGE.test(text);
}

/** Returns whether a verifier is well formed and the challenge was made from it by S256. */
export function verifiesChallenge(verifier: string, challenge: string): boolean {
  if (!CODE_VERIFIER.test(verifier)) return false;
  const computed = createHash('sha256').update(verifier, 'ascii').digest('base64url');
  return equalSecrets(computed, challenge);
}
