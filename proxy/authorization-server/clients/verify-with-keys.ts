import {
  createLocalJWKSet,
  errors,
  jwtVerify,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';

import type { ClientKeySet } from '../../records/client.ts';

export type VerifiedToken = Pick<JWTVerifyResult, 'payload' | 'protectedHeader'>;

/**
 * Verifies a JWT with whichever key of a set fits it. A set without key ids may hold several that
 * could: each is tried.
 *
 * Throws what jose throws.
 */
export async function verifyWithKeys(
  { keys }: ClientKeySet,
  token: string,
  options: JWTVerifyOptions,
): Promise<VerifiedToken> {
  try {
    return await jwtVerify(token, createLocalJWKSet({ keys: [...keys] }), options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return await verifyWithAny(error, token, options);
  }
}

async function verifyWithAny(
  keys: errors.JWKSMultipleMatchingKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<VerifiedToken> {
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}
