import { createPublicKey } from 'node:crypto';

import type { JWK } from 'jose';

import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';

/** A JSON Web Key Set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly JWK[];
}

const published = new WeakMap<CompiledSigningKeys, KeySet>();

/** Returns the public halves of all keys, also of those that signed before or will sign next. */
export function jwksDocument(signingKeys: CompiledSigningKeys): KeySet {
  const known = published.get(signingKeys);
  if (known !== undefined) return known;
  const document = { keys: signingKeys.keys.map(publicKey) };
  published.set(signingKeys, document);
  return document;
}

function publicKey({ keyId, algorithm, privateKey }: CompiledSigningKeys['keys'][number]): JWK {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return { ...jwk, kid: keyId, alg: algorithm, use: 'sig' };
}
