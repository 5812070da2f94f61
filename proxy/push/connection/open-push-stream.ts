import { once } from 'node:events';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
} from 'node:http2';

import type { Clock } from '../../../shared/runtime/clock.ts';
import { PUSH_PATH } from '../../../shared/snapshot/push-frames.ts';
import { causeOf, connectController, type PushConnection } from './connect-controller.ts';
import { controllerAddressOf, parseLeaderAddress, type DialAddress } from './controller-address.ts';
import { readAccessFiles, type ControllerAccess } from './controller-access.ts';
import { raceDials } from './race-dials.ts';

/** A reason in one word. The log quotes nothing else that a controller sends. */
const REASON = /^[a-z-]{1,40}$/;

const OK = 200;
const UNAVAILABLE = 503;

/** The answer of a controller to the hello, and the address that it came from. */
export type HelloAnswer = { readonly from: DialAddress } & (
  | {
      readonly kind: 'opened';
      readonly session: ClientHttp2Session;
      readonly stream: ClientHttp2Stream;
    }
  /** Another controller leads. */
  | { readonly kind: 'redirected'; readonly leader: DialAddress }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string | undefined }
);

/** Options of `openPushStream`. */
export interface OpenOptions {
  /** Address to dial first. */
  readonly address: DialAddress;
  readonly hello: OutgoingHttpHeaders;
  /** Time after which the controllers' Service is dialled as well. */
  readonly hedgeMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Opens the stream of the push protocol. Reads the files for every attempt, because both are
 * replaced while the proxy runs.
 *
 * A controller that hangs accepts connections but does not answer. Another connection to the Service
 * may reach a controller that answers. Only one connection at a time carries the hello, because a
 * second stream of the proxy would replace the first. A redirect to the address that was dialled
 * first does not count: that controller may only be slow.
 *
 * Rejects if no server answers, or if the server that answers is not the controller.
 */
export async function openPushStream(
  controller: ControllerAccess,
  { address, hello, hedgeMs, clock, signal }: OpenOptions,
): Promise<HelloAnswer> {
  const { ca, token } = await readAccessFiles(controller);
  signal.throwIfAborted();
  const request = { ...hello, authorization: `Bearer ${token}` };
  const service = controllerAddressOf(controller.url);
  return await raceDials({
    open: (dial) =>
      connectController(controller, {
        address: dial.number === 0 ? address : service,
        ca,
        signal: dial.signal,
      }),
    ask: async (connection, dial) => {
      const answer = await sayHello(connection, request, dial.signal);
      if (answer.kind !== 'opened') connection.destroy();
      if (dial.number > 0 && isAt(answer, address)) throw new Error('others name it as the leader');
      return answer;
    },
    hedgeMs,
    clock,
    signal,
  });
}

/** Returns whether the answer redirects to this address. */
function isAt(answer: HelloAnswer, { host, port }: DialAddress): boolean {
  return answer.kind === 'redirected' && answer.leader.host === host && answer.leader.port === port;
}

async function sayHello(
  { session, address, closed }: PushConnection,
  hello: OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<HelloAnswer> {
  const stream = session.request(
    { ':method': 'POST', ':path': PUSH_PATH, ...hello },
    { endStream: false },
  );
  // Callers that read the stream report the error.
  stream.on('error', () => undefined);
  const headers = await responseTo(stream, AbortSignal.any([signal, closed]));
  const status = headers[':status'] ?? 0;
  if (status === OK) return { kind: 'opened', from: address, session, stream };
  const named = headers['x-leader'];
  const leader = typeof named === 'string' ? parseLeaderAddress(named) : undefined;
  return status === UNAVAILABLE && leader !== undefined
    ? { kind: 'redirected', from: address, leader }
    : { kind: 'refused', from: address, status, reason: reasonOf(headers) };
}

async function responseTo(
  stream: ClientHttp2Stream,
  over: AbortSignal,
): Promise<IncomingHttpHeaders & { readonly ':status'?: number }> {
  try {
    // Node's types do not declare the arguments of the event.
    const [headers] = (await once(stream, 'response', { signal: over })) as [IncomingHttpHeaders];
    return headers;
  } catch (error) {
    throw causeOf(error, over);
  }
}

function reasonOf({ 'x-reason': reason }: IncomingHttpHeaders): string | undefined {
  return typeof reason === 'string' && REASON.test(reason) ? reason : undefined;
}
