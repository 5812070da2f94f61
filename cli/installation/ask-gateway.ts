import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';

const TIMEOUT_MS = 10_000;

/** What to ask a gateway, whatever its address is. */
export interface GatewayQuestion {
  /** Where it listens. */
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** The host of a route. */
  readonly host: string;
  readonly path: string;
}

/** The answer of a gateway. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/**
 * Asks a gateway for a host that need not have a DNS name. With TLS any certificate is accepted: this shows
 * whether the gateway answers, and no secret is sent.
 */
export async function askGateway({
  url,
  method,
  host,
  path,
}: GatewayQuestion): Promise<GatewayAnswer> {
  const isTls = url.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<GatewayAnswer>();
  const request = (isTls ? requestTls : requestPlain)(
    new URL(path, url),
    {
      method,
      headers: { host, ...(method === 'POST' && { 'content-type': 'application/json' }) },
      agent: false,
      timeout: TIMEOUT_MS,
      ...(isTls && { servername: host, rejectUnauthorized: false }),
    },
    (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    },
  );
  request.on('timeout', () => request.destroy(new Error(`no answer in ${String(TIMEOUT_MS)} ms`)));
  request.on('error', reject);
  request.end(method === 'POST' ? '{}' : undefined);
  return promise;
}
