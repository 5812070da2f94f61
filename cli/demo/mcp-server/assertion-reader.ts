import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose';

/** Reads who makes a request from `X-Gateway-Assertion`. Rejects when that is not valid. */
export type AssertionReader = (assertion: string) => Promise<JWTPayload>;

/**
 * What any server behind the gateway does to know its user: a standard JWT library, the gateway's
 * published keys, and a check that the assertion is meant for this route.
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
