import { createPublicKey } from 'node:crypto';

import type { JWK } from 'jose';

import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../../cache/once-per-object.ts';

/** A JSON Web Key Set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly JWK[];
}

/** Returns the public halves of all keys, including those that signed before or will sign next. */
export const jwksDocument = oncePerObject(({ keys }: CompiledSigningKeys): KeySet => ({
  keys: keys.map(publicKey),
}));

function publicKey({ keyId, algorithm, privateKey }: CompiledSigningKeys['keys'][number]): JWK {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return { ...jwk, kid: keyId, alg: algorithm, use: 'sig' };
}
