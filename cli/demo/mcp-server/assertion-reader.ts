import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose';

/** Reads the caller from `X-Gateway-Assertion`. Rejects if the assertion is not valid. */
export type AssertionReader = (assertion: string) => Promise<JWTPayload>;

/**
 * Creates a reader as any upstream can have it: a standard JWT library, the published keys of the
 * gateway, and a check that the assertion is for this route.
 */
export function createAssertionReader(gatewayOrigin: string): AssertionReader {
  const keys = createRemoteJWKSet(new URL('/.gateway/jwks.json', gatewayOrigin));
  return async (assertion) => {
    const { payload } = await jwtVerify(assertion, keys, {
      issuer: gatewayOrigin,
      audience: new URL(gatewayOrigin).host,
    });
    return payload;
  };
}
