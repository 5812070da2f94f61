import { ForbiddenError } from './denial-errors.ts';
import { GatewayError } from './gateway-error.ts';

/** How a client that opens URLs for its user is asked to (MCP, Elicitation, URL mode). */
export interface UrlElicitation {
  /** `error` before MCP 2026-07-28, and `result` since then. */
  readonly form: 'error' | 'result';
  readonly url: string;
  /** Unique, and cannot be guessed. */
  readonly id: string;
  /** What the client gets back with the repetition of its request, if the request had it. */
  readonly requestState: string | undefined;
}

/**
 * The user has to connect the upstream of the route. The client gets a challenge, after which it authorizes
 * again; one that opens URLs gets the URL at which the user connects.
 */
export class NotConnectedError extends GatewayError {
  override readonly name = 'NotConnectedError';
  override readonly reason = 'not-connected';
  override readonly status: 200 | 401;
  readonly elicitation: UrlElicitation | undefined;

  constructor(message: string, elicitation?: UrlElicitation) {
    super(message);
    this.elicitation = elicitation;
    this.status = elicitation === undefined ? 401 : 200;
  }
}

/** The user would have to connect, but nobody signed in: there is no browser in which to do it. */
export class ConnectionNeedsSignInError extends ForbiddenError {
  override readonly name = 'ConnectionNeedsSignInError';

  constructor() {
    super('connection-needs-sign-in', 'the upstream must be connected, and nobody signed in');
  }
}

/** The user was asked to connect, and did not want to. */
export class ConnectionDeclinedError extends ForbiddenError {
  override readonly name = 'ConnectionDeclinedError';

  constructor() {
    super('connection-declined', 'the user declined to connect the upstream');
  }
}
