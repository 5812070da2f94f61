import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

import { freePort } from '../../support/free-port.ts';
import { startNative, type NativeProgram, type ServerOptions } from '../support/native-program.ts';
import { DENIED_TOOLS, IDENTITY } from './access.ts';
import { TOKEN_COUNT } from './workload.ts';

/** Where Debian's package puts haproxy. */
export const HAPROXY = '/usr/sbin/haproxy';

const HOUR_SECONDS = 3_600;
const MILLISECONDS = 1000;

/** Haproxy, and the JWTs that it accepts. */
export interface Haproxy extends NativeProgram {
  readonly tokens: readonly string[];
}

/**
 * Starts haproxy, which verifies the ES256 signature of each request's JWT, and refuses calls of tools by one
 * rule on the body. It caches nothing. It logs each request to its stdout.
 */
export async function startHaproxy(options: ServerOptions): Promise<Haproxy> {
  const { upstreamPort, directory } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const keyFile = await directory.write('haproxy.pem', pem);
  const port = await freePort();
  const text = configuration(port, upstreamPort, keyFile);
  const file = await directory.write('haproxy.cfg', text);
  const program = await startNative([HAPROXY, '-db', '-f', file], { ...options, port });
  const tokens = Array.from({ length: TOKEN_COUNT }, (_, index) => makeToken(privateKey, index));
  return { ...program, tokens };
}

function configuration(port: number, upstreamPort: number, keyFile: string): string {
  return `
global
  nbthread 1
  log stdout format raw daemon info
defaults
  mode http
  log global
  option httplog
  option http-buffer-request
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  timeout http-keep-alive 60s
frontend mcp
  bind 127.0.0.1:${String(port)}
  http-request set-var(txn.token) http_auth_bearer
  http-request deny deny_status 401 unless { var(txn.token),jwt_header_query('$.alg') -m str ES256 }
  http-request deny deny_status 401 unless { var(txn.token),jwt_verify('ES256','${keyFile}') 1 }
  http-request deny deny_status 403 if { req.body,json_query('$.params.name') -m beg ${DENIED_TOOLS} }
  default_backend upstream
backend upstream
  http-reuse always
  server upstream 127.0.0.1:${String(upstreamPort)}
`;
}

/** A JWT with the claims of an external token (RFC 9068). */
function makeToken(key: KeyObject, index: number): string {
  const { issuer, subject, email } = IDENTITY;
  const now = Math.floor(Date.now() / MILLISECONDS);
  const claims = { iss: issuer, sub: subject, email, iat: now, exp: now + HOUR_SECONDS };
  const text = [
    { alg: 'ES256', typ: 'at+jwt' },
    { ...claims, jti: String(index) },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
