import {
  createLocalJWKSet,
  errors,
  jwtVerify,
  type JWK,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';

/** The verified claims and header of a JWT. */
export type VerifiedToken = Pick<JWTVerifyResult, 'payload' | 'protectedHeader'>;

/**
 * Verifies a JWT with the matching key of a set (RFC 7517, section 5). In a set without key ids
 * several keys may match: each is tried.
 *
 * Throws the errors of jose.
 */
export async function verifyWithKeys(
  { keys }: { readonly keys: readonly JWK[] },
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
