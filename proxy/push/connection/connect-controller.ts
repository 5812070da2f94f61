import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';

import { formatAddress } from '../../../shared/runtime/listen-address.ts';
import { errorCode } from '../../../shared/runtime/error-code.ts';
import { controllerAddressOf, type DialAddress } from './controller-address.ts';
import { CA_FLAG, type ControllerAccess } from './controller-access.ts';
import { ControllerProblemError, type ProblemSource } from './controller-problem.ts';

/** Flow-control window: a snapshot arrives without a round trip for every 64 kB. */
const WINDOW_BYTES = 1024 * 1024;

/** OpenSSL's codes for a chain that ends at no trusted authority. */
const UNTRUSTED = /SELF_SIGNED|SIGNATURE_FAILURE|UNABLE_TO_(GET_ISSUER|VERIFY)/;
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const CONTROLLER_FLAG = '--controller';

/** Options of one connection. */
export interface ConnectOptions {
  readonly address: DialAddress;
  /** Authorities (PEM) that the certificate may come from. */
  readonly ca: string;
  readonly signal: AbortSignal;
}

/** A connection to a server that has proved to be the controller. */
export interface PushConnection {
  readonly session: ClientHttp2Session;
  /** Address that was dialled. */
  readonly address: DialAddress;
  /** Aborts when the connection is closed, by either side. */
  readonly closed: AbortSignal;
  /** Closes the connection at once. */
  destroy(): void;
}

/**
 * Connects to a controller. Rejects with a `ControllerProblemError` if no server answers, or its
 * certificate is not valid for the host of the URL, whatever address was dialled.
 */
export async function connectController(
  controller: ControllerAccess,
  { address, ca, signal }: ConnectOptions,
): Promise<PushConnection> {
  const socket = openSocket(controller.url, address, ca);
  const session = openSession(controller.url, socket);
  const closed = whenClosed(session);
  const over = AbortSignal.any([signal, closed]);
  try {
    await once(session, 'connect', { signal: over });
    session.setLocalWindowSize(WINDOW_BYTES);
    return { session, address, closed, destroy: () => session.destroy() };
  } catch (error) {
    session.destroy();
    // The session leaves a socket alone that still connects: to a machine that is gone, for minutes.
    socket.destroy();
    const at = { address: formatAddress(address) };
    if (isCertificateRefused(socket)) {
      const source = { ...certificateSource(error, controller), ...at };
      throw new ControllerProblemError('certificate', source, error);
    }
    throw new ControllerProblemError('unreachable', at, causeOf(error, over));
  }
}

/** Returns the reason of the abort if an error means that a wait was aborted; else the error. */
export function causeOf(error: unknown, over: AbortSignal): unknown {
  return errorCode(error) === 'ABORT_ERR' && over.aborted ? over.reason : error;
}

/** Returns whether the certificate was refused. Node's type omits that this is null otherwise. */
function isCertificateRefused(socket: {
  readonly authorizationError: Error | string | null;
}): boolean {
  return socket.authorizationError !== null;
}

function certificateSource(error: unknown, { ca }: ControllerAccess): ProblemSource {
  const code = errorCode(error) ?? '';
  if (UNTRUSTED.test(code)) return { flag: CA_FLAG, file: ca };
  return code === WRONG_NAME ? { flag: CONTROLLER_FLAG } : {};
}

function openSession(url: URL, socket: TLSSocket): ClientHttp2Session {
  const session = connectHttp2(url.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
  });
  // Callers that wait for the session report the error.
  session.on('error', () => undefined);
  return session;
}

function openSocket(url: URL, address: DialAddress, ca: string): TLSSocket {
  const { host } = controllerAddressOf(url);
  return connectTls({
    ...address,
    ca,
    // Explicit, because with NODE_TLS_REJECT_UNAUTHORIZED=0 any server would get the token.
    rejectUnauthorized: true,
    // An address is not a server name (RFC 6066, section 3); an empty name is not sent.
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_dialled, certificate) => checkServerIdentity(host, certificate),
    ALPNProtocols: ['h2'],
  });
}

/** Aborts when a session closes, which may happen without an error. */
function whenClosed(session: ClientHttp2Session): AbortSignal {
  const closed = new AbortController();
  session.once('close', () => closed.abort(new Error('the controller closed the connection')));
  return closed.signal;
}
