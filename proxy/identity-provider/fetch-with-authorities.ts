import { request } from 'node:https';
import type { SecureContext } from 'node:tls';

/** The parts of a response that are used. */
interface ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The part of a message of Node that is read. */
interface ReceivedMessage extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>>;
  destroy(): unknown;
}

/** Statuses of responses that never have a body (Fetch standard, null body status). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
const FIRST_REDIRECT = 300;

/**
 * Sends a request to a server whose certificate must be of one of these authorities, and not of the system's.
 * No redirect is followed, and no connection is shared. Node's `fetch` cannot be given authorities.
 */
export async function fetchWithAuthorities(
  url: string,
  init: RequestInit,
  authorities: SecureContext,
): Promise<ReceivedResponse> {
  const prepared = new Request(url, init);
  const body = Buffer.from(await prepared.arrayBuffer());
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedMessage>();
  const length = body.length === 0 ? {} : { 'content-length': String(body.length) };
  // Node passes it on to `tls.connect`; its types do not have it here.
  const trust = { secureContext: authorities };
  request(url, {
    method: prepared.method,
    headers: {
      ...Object.fromEntries(prepared.headers),
      ...length,
      'accept-encoding': 'identity',
    },
    agent: false,
    ...trust,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    signal: prepared.signal,
  })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  return received(await promise);
}

function received(message: ReceivedMessage): ReceivedResponse {
  const { statusCode: status = 0, statusMessage: statusText = '' } = message;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const ok = status >= 200 && status < FIRST_REDIRECT;
  const isEmpty = WITHOUT_BODY.has(status);
  if (isEmpty) message.destroy();
  return { status, statusText, ok, headers, body: isEmpty ? null : message };
}
