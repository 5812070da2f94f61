import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';

import type { JWK } from 'jose';

import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';

/** A JSON Web Key Set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly JWK[];
}

const published = new WeakMap<CompiledSigningKeys, KeySet>();

/** The public halves of all keys: what signed before and what will sign next verifies too. */
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

/** A key of the process's own (ES256), for settings that name none. It dies with the process. */
export function generateSigningKeys(): CompiledSigningKeys {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const keyId = thumbprint(privateKey);
  return { kind: 'signing-keys', keys: [{ keyId, algorithm: 'ES256', privateKey }] };
}

/** RFC 7638, section 3: over the required members of the public key, in this order. */
function thumbprint(privateKey: string): string {
  const { crv, kty, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}
