import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { isIP } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';

import { errorCode } from '../../shared/process/error-code.ts';
import { PUSH_PATH } from '../../shared/snapshot/push-frames.ts';
import { addressOf, parseLeaderAddress, type DialAddress } from './controller-address.ts';
import { ControllerProblemError, type ProblemSource } from './controller-problem.ts';

/** How much may be under way: a snapshot comes in without a round trip for every 64 kB. */
const WINDOW_BYTES = 1024 * 1024;

/** Codes of OpenSSL for a chain that leads to no authority that is trusted. */
const UNTRUSTED = /SELF_SIGNED|SIGNATURE_FAILURE|UNABLE_TO_(GET_ISSUER|VERIFY)/;
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const CONTROLLER_FLAG = '--controller';
const CA_FLAG = '--controller-ca';
const TOKEN_FLAG = '--token-file';
/** What a controller says in one word. Anything else is not repeated. */
const REASON = /^[a-z-]{1,40}$/;

const OK = 200;
const UNAVAILABLE = 503;

/** Who the controller is, and how a proxy proves who it is. */
export interface Controller {
  /** Its origin. Whatever address is dialled, the certificate must be for the host in it. */
  readonly url: URL;
  /** File of the authorities (PEM) that its certificate may come from. */
  readonly ca: string;
  /** File of the ServiceAccount token. */
  readonly tokenFile: string;
}

/** The answer to a hello. */
export type Opened =
  | {
      readonly kind: 'opened';
      readonly session: ClientHttp2Session;
      readonly stream: ClientHttp2Stream;
    }
  /** Another controller leads. */
  | { readonly kind: 'redirected'; readonly leader: DialAddress }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string | undefined };

/**
 * Opens the stream of the push protocol at one address. The files are read for every attempt: both
 * are replaced while the proxy runs.
 *
 * Rejects when no controller answers there whose certificate is valid for the host of the URL. An
 * address that a controller names is only a place to dial: who answers there proves the same.
 */
export async function openPushStream(
  controller: Controller,
  {
    address,
    hello,
    signal,
  }: {
    readonly address: DialAddress;
    readonly hello: OutgoingHttpHeaders;
    readonly signal: AbortSignal;
  },
): Promise<Opened> {
  const [ca, token] = await Promise.all([
    readAuthorities(controller.ca),
    readToken(controller.tokenFile),
  ]);
  signal.throwIfAborted();
  const socket = openSocket(controller.url, address, ca);
  const session = openSession(controller.url, socket);
  const over = untilClosed(session, signal);
  try {
    const request = { ...hello, authorization: `Bearer ${token}` };
    const answer = await sayHello(session, request, over);
    if (answer.kind !== 'opened') session.destroy();
    return answer;
  } catch (error) {
    session.destroy();
    // That the wait was aborted says little: why does.
    if (errorCode(error) === 'ABORT_ERR' && over.aborted) throw over.reason;
    if (!isCertificateRefused(socket)) throw error;
    throw new ControllerProblemError('certificate', certificateSource(error, controller), error);
  }
}

/** The types leave out that it is null before, and without a fault. */
function isCertificateRefused(socket: {
  readonly authorizationError: Error | string | null;
}): boolean {
  return socket.authorizationError !== null;
}

function certificateSource(error: unknown, { ca }: Controller): ProblemSource {
  const code = errorCode(error) ?? '';
  if (UNTRUSTED.test(code)) return { flag: CA_FLAG, file: ca };
  return code === WRONG_NAME ? { flag: CONTROLLER_FLAG } : {};
}

async function readAuthorities(file: string): Promise<string> {
  try {
    const pem = await readFile(file, 'utf8');
    // Node takes anything, and then trusts nobody.
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('holds no certificate');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new ControllerProblemError('ca-file', { flag: CA_FLAG, file }, error);
  }
}

async function readToken(file: string): Promise<string> {
  try {
    const token = (await readFile(file, 'utf8')).trim();
    // RFC 6750, section 2.1.
    if (!/^[\w.~+/-]+=*$/.test(token)) throw new Error('holds no token');
    return token;
  } catch (error) {
    throw new ControllerProblemError('token-file', { flag: TOKEN_FLAG, file }, error);
  }
}

function openSession(url: URL, socket: TLSSocket): ClientHttp2Session {
  return connectHttp2(url.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
  });
}

function openSocket(url: URL, address: DialAddress, ca: string): TLSSocket {
  const { host } = addressOf(url);
  return connectTls({
    ...address,
    ca,
    // Not left to the environment: NODE_TLS_REJECT_UNAUTHORIZED would hand the token to anyone.
    rejectUnauthorized: true,
    // An address is no server name (RFC 6066, section 3); the empty one is not sent.
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_dialled, certificate) => checkServerIdentity(host, certificate),
    ALPNProtocols: ['h2'],
  });
}

/** A session may also end without an error. */
function untilClosed(session: ClientHttp2Session, signal: AbortSignal): AbortSignal {
  const closed = new AbortController();
  session.once('close', () => closed.abort(new Error('the controller closed the connection')));
  return AbortSignal.any([signal, closed.signal]);
}

async function sayHello(
  session: ClientHttp2Session,
  hello: OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<Opened> {
  // Told by the stream as well.
  session.on('error', () => undefined);
  await once(session, 'connect', { signal });
  session.setLocalWindowSize(WINDOW_BYTES);
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
  return answerOf(headers, { session, stream });
}

function answerOf(
  headers: IncomingHttpHeaders & { readonly ':status'?: number },
  parts: { readonly session: ClientHttp2Session; readonly stream: ClientHttp2Stream },
): Opened {
  const status = headers[':status'] ?? 0;
  if (status === OK) return { kind: 'opened', ...parts };
  const named = headers['x-leader'];
  const leader = typeof named === 'string' ? parseLeaderAddress(named) : undefined;
  return status === UNAVAILABLE && leader !== undefined
    ? { kind: 'redirected', leader }
    : { kind: 'refused', status, reason: reasonOf(headers) };
}

function reasonOf({ 'x-reason': reason }: IncomingHttpHeaders): string | undefined {
  return typeof reason === 'string' && REASON.test(reason) ? reason : undefined;
}
