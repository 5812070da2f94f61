import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

const ALGORITHM = 'ES256';
const KEY_ID = 'the-key';

/** A provider that only issues JWTs, such as a CI system. */
export interface MachineIssuer extends AsyncDisposable {
  readonly issuer: string;
  /** How often its keys were requested. */
  keyRequests(): number;
  /** Signs a token for ten minutes for the audience `gatehouse`, unless the claims say otherwise. */
  sign(claims: JWTPayload): Promise<string>;
  /** Closes its port; `start` opens the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts an issuer on loopback. */
export async function startMachineIssuer(): Promise<MachineIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
  const key = { ...(await exportJWK(publicKey)), alg: ALGORITHM, kid: KEY_ID, use: 'sig' };
  let keyRequests = 0;
  let issuer = '';
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.setHeader('connection', 'close');
    if (request.url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify(metadataOf(issuer)));
    } else if (request.url === '/jwks') {
      keyRequests += 1;
      response.end(JSON.stringify({ keys: [key] }));
    } else response.writeHead(404).end('{}');
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // a TCP server that listens has one
  };
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listen(0);
  issuer = `http://127.0.0.1:${String(port)}`;
  return {
    issuer,
    keyRequests: () => keyRequests,
    sign(claims) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ iss: issuer, aud: 'gatehouse', iat: now, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID, typ: 'JWT' })
        .sign(privateKey);
    },
    stop,
    async start() {
      await listen(port);
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await stop();
    },
  };
}

/** OpenID Connect Discovery, section 3: the members that every provider has. */
function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [ALGORITHM],
  };
}
