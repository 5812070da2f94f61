import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { IDENTITY } from './access.ts';
import { AUDIENCE } from './bench-configuration.ts';
import { TOKEN_COUNT } from './workload.ts';

const ALGORITHM = 'ES256';
const KEY_ID = 'bench';

/** An identity provider whose tokens callers of the workload `jwt` carry. */
export interface JwtIssuer {
  /** Where its keys are, as long as the process runs. */
  readonly jwksUrl: string;
  readonly tokens: readonly string[];
}

/** Starts a provider on loopback, in this process: a gateway asks it at most every ten minutes. */
export async function startJwtIssuer(): Promise<JwtIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
  const keys = [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: ALGORITHM }];
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  const { issuer, subject, email, name, groups } = IDENTITY;
  const sign = (index: number): Promise<string> =>
    new SignJWT({ email, name, groups })
      .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
      .setIssuer(issuer)
      .setSubject(subject)
      .setAudience(AUDIENCE)
      .setJti(String(index))
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  const tokens = await Promise.all(Array.from({ length: TOKEN_COUNT }, (_, index) => sign(index)));
  return { jwksUrl: `http://127.0.0.1:${String(port)}/jwks`, tokens };
}
