import { STATUS_CODES } from 'node:http';

import { SeveralCredentialsError, TokenRequiredError } from './authentication-errors.ts';
import { OriginNotAllowedError, PolicyDeniedError, ToolCallDeniedError } from './denial-errors.ts';
import { GatewayError } from './gateway-error.ts';
import {
  ConnectionDeclinedError,
  ConnectionNeedsSignInError,
  NotConnectedError,
} from './not-connected-errors.ts';
import { InvalidMcpSessionIdError, McpSessionNotFoundError } from './mcp-session-errors.ts';
import {
  BodyTooLargeError,
  InvalidBodyError,
  InvalidMessageError,
  NotAcceptableError,
} from './request-errors.ts';
import { MethodNotAllowedError, MisdirectedRequestError } from './routing-errors.ts';

/** Status of an error that is a bug. */
export const INTERNAL_ERROR_STATUS = 500;

/** Returns the status of the response to an error. */
export function statusOf(error: unknown): number {
  return error instanceof GatewayError ? error.status : INTERNAL_ERROR_STATUS;
}

/** Returns the reason that a response may name. It does not reveal why a token is invalid. */
export function publicReason(error: unknown): string {
  if (error instanceof TokenRequiredError) return error.tokenWasSent ? 'invalid-token' : 'no-token';
  return error instanceof GatewayError ? error.reason : 'internal-error';
}

/** Describes an error in words that everyone may read. */
export function describePublicly(error: unknown): string {
  if (error instanceof BodyTooLargeError) {
    return `the body is longer than the ${String(error.limitBytes)} bytes allowed here`;
  }
  if (hasPublicMessage(error)) return error.message;
  if (error instanceof McpSessionNotFoundError) {
    return 'there is no such MCP session; start a new one with an initialize request';
  }
  if (error instanceof InvalidMcpSessionIdError) {
    return 'the server behind the gateway sent an invalid Mcp-Session-Id';
  }
  if (error instanceof PolicyDeniedError) return 'the request is not permitted by policy';
  if (error instanceof OriginNotAllowedError) return 'pages of this origin may not use this route';
  if (error instanceof ToolCallDeniedError) {
    return 'this tool call is not permitted by policy; other requests are not affected';
  }
  if (error instanceof NotConnectedError) {
    return 'the server behind the gateway needs the authorization of its user; authorize again';
  }
  if (error instanceof ConnectionNeedsSignInError) {
    return 'the server behind the gateway needs the authorization of a user who signs in at the gateway';
  }
  if (error instanceof ConnectionDeclinedError) {
    return 'the server behind the gateway needs the authorization of its user, who declined';
  }
  if (error instanceof TokenRequiredError) {
    return error.tokenWasSent
      ? 'the access token is not valid here'
      : 'an access token is required';
  }
  return DESCRIPTIONS[statusOf(error)] ?? STATUS_CODES[statusOf(error)] ?? 'the request failed';
}

/** Returns whether the message of an error is for everyone. */
function hasPublicMessage(error: unknown): error is Error {
  return (
    error instanceof InvalidBodyError ||
    error instanceof InvalidMessageError ||
    error instanceof MethodNotAllowedError ||
    error instanceof MisdirectedRequestError ||
    error instanceof NotAcceptableError ||
    error instanceof SeveralCredentialsError
  );
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'the request is malformed',
  401: 'signing in is required',
  403: 'the request is not permitted',
  404: 'there is nothing here',
  413: 'the body is too large',
  414: 'the path is too long',
  417: 'the only expectation that can be met is 100-continue',
  421: 'this gateway does not serve this host',
  429: 'too many requests; try again later',
  500: 'the gateway failed to handle the request',
  502: 'the server behind the gateway cannot be reached',
  503: 'the gateway cannot handle the request at the moment; try again later',
  504: 'the server behind the gateway did not answer in time',
};
