const SENTENCES = {
  'no-connection': 'no connection could be made',
  'connect-failed': 'the connection could not be set up',
  'connection-lost': 'the connection was lost before the response began',
  'response-cut': 'the connection was lost within the response',
  'response-timeout': 'the response did not begin in time',
  'invalid-request': 'the request cannot be written in HTTP/1.1',
  'wrong-length': 'the body is not as long as announced',
  closed: 'the client was closed',
} as const;

/**
 * Why a request has no whole response:
 * - `no-connection`: the address does not accept connections; nothing was sent;
 * - `connect-failed`: another reason, such as its name or its certificate; nothing was sent;
 * - `connection-lost`: the request may have been sent, and no byte of a response came;
 * - the others as their messages say.
 */
export type ConnectionFailure = keyof typeof SENTENCES;

/** A request failed, and its connection is closed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: ConnectionFailure;

  constructor(code: ConnectionFailure, cause?: unknown) {
    super(SENTENCES[code], cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Failures of a network or of its other end; not those of this process, such as too many open files. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Translates the error of a socket that was connecting. */
export function connectError(error: Error | undefined): ConnectionError {
  const isUnreachable =
    error === undefined || ('code' in error && UNREACHABLE.has(String(error.code)));
  return new ConnectionError(isUnreachable ? 'no-connection' : 'connect-failed', error);
}
