import { once } from 'node:events';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
} from 'node:http2';

import { errorCode } from '../../shared/process/error-code.ts';
import { PUSH_PATH } from '../../shared/snapshot/push-frames.ts';
import { connectController, type ConnectOptions, type Connection } from './connect-controller.ts';
import { parseLeaderAddress, type DialAddress } from './controller-address.ts';
import { readAuthorities, readToken, type Controller } from './controller-credentials.ts';

/** What a controller says in one word. Anything else is not repeated. */
const REASON = /^[a-z-]{1,40}$/;

const OK = 200;
const UNAVAILABLE = 503;

/** The answer to a hello, and the address that it came from. */
export type Opened = { readonly from: DialAddress } & (
  | {
      readonly kind: 'opened';
      readonly session: ClientHttp2Session;
      readonly stream: ClientHttp2Stream;
    }
  /** Another controller leads. */
  | { readonly kind: 'redirected'; readonly leader: DialAddress }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string | undefined }
);

export interface OpenOptions extends Omit<ConnectOptions, 'ca'> {
  readonly hello: OutgoingHttpHeaders;
}

/**
 * Opens the stream of the push protocol. The files are read for every attempt: both are replaced
 * while the proxy runs.
 *
 * Rejects when no controller answers, as `connectController` does.
 */
export async function openPushStream(
  controller: Controller,
  { hello, ...options }: OpenOptions,
): Promise<Opened> {
  const [ca, token] = await Promise.all([
    readAuthorities(controller.ca),
    readToken(controller.tokenFile),
  ]);
  options.signal.throwIfAborted();
  const connection = await connectController(controller, { ...options, ca });
  const over = AbortSignal.any([options.signal, connection.closed]);
  try {
    const request = { ...hello, authorization: `Bearer ${token}` };
    const answer = await sayHello(connection, request, over);
    if (answer.kind !== 'opened') connection.destroy();
    return answer;
  } catch (error) {
    connection.destroy();
    // That the wait was aborted says little: why does.
    if (errorCode(error) === 'ABORT_ERR' && over.aborted) throw over.reason;
    throw error;
  }
}

async function sayHello(
  { session, address }: Connection,
  hello: OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<Opened> {
  const stream = session.request(
    { ':method': 'POST', ':path': PUSH_PATH, ...hello },
    { endStream: false },
  );
  // Told by whoever reads it.
  stream.on('error', () => undefined);
  // The types leave open what the event carries.
  const [headers] = (await once(stream, 'response', { signal })) as [
    IncomingHttpHeaders & { readonly ':status'?: number },
  ];
  const status = headers[':status'] ?? 0;
  if (status === OK) return { kind: 'opened', from: address, session, stream };
  const named = headers['x-leader'];
  const leader = typeof named === 'string' ? parseLeaderAddress(named) : undefined;
  return status === UNAVAILABLE && leader !== undefined
    ? { kind: 'redirected', from: address, leader }
    : { kind: 'refused', from: address, status, reason: reasonOf(headers) };
}

function reasonOf({ 'x-reason': reason }: IncomingHttpHeaders): string | undefined {
  return typeof reason === 'string' && REASON.test(reason) ? reason : undefined;
}
