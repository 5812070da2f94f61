import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';

import type { ErrorAudience } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { html } from '../http/html.ts';
import { page } from '../pages/layout.ts';
import { PATHS } from '../endpoints/paths.ts';
import { json } from '../http/responses.ts';
import {
  AuthorizationPageError,
  ClientIdDomainNotAllowedError,
} from '../errors/authorization-page-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { InvalidClientError, OAuthError } from '../errors/oauth-errors.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import {
  BodyTooLargeError,
  BodyTooSlowError,
  InvalidMessageError,
} from '../errors/request-errors.ts';
import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import { TooManyRequestsError, ToolCallDeniedError } from '../errors/denial-errors.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';

/** What the response to a failed request depends on besides the error. */
export interface FailedRequest {
  readonly requestId: string;
  readonly audience: ErrorAudience;
  /** Id of the JSON-RPC request; null if none could be parsed. */
  readonly messageId: string | number | null;
  /** `WWW-Authenticate` value for a token challenge (RFC 9728, section 5.1). */
  readonly challenge: ((tokenWasSent: boolean) => string) | undefined;
  /** Whether the client authenticated with the Basic scheme, in which it is then challenged. */
  readonly usedBasic: boolean;
}

const INTERNAL_ERROR_STATUS = 500;

/**
 * Returns the response for an error of any stage. It alone decides what the caller sees.
 *
 * Messages of errors are for the log; an error that is not a `GatewayError` is a bug, and its response
 * has no details.
 */
export function respondToError(error: unknown, failed: FailedRequest): GatewayResponse {
  switch (failed.audience) {
    case 'oauth':
      return oauthError(error, failed);
    case 'json-rpc':
      return jsonRpcError(error, failed);
    case 'page':
      return errorPage(error, failed);
    case 'text':
      return textError(error, failed);
  }
}

function statusOf(error: unknown): number {
  return error instanceof GatewayError ? error.status : INTERNAL_ERROR_STATUS;
}

/** Returns the headers of an error, for every audience. */
function headersOf(error: unknown, { challenge }: FailedRequest): OutgoingHttpHeaders {
  if (error instanceof TokenRequiredError && challenge !== undefined) {
    return { 'www-authenticate': challenge(error.tokenWasSent) };
  }
  // RFC 9110, section 15.5.9. Otherwise the rest of the body could keep the connection busy.
  if (error instanceof BodyTooSlowError) return { connection: 'close' };
  if (error instanceof MethodNotAllowedError) return { allow: error.allow.join(', ') };
  if (error instanceof TooManyRequestsError || error instanceof UnavailableError) {
    return { 'retry-after': String(error.retryAfterSeconds) };
  }
  return {};
}

/** RFC 6749, section 5.2. */
function oauthError(error: unknown, failed: FailedRequest): GatewayResponse {
  const headers = headersOf(error, failed);
  if (error instanceof OAuthError) {
    const body = { error: error.code, error_description: error.description };
    const mustChallenge = error instanceof InvalidClientError && failed.usedBasic;
    const challenge = mustChallenge ? { 'www-authenticate': 'Basic realm="gatehouse"' } : {};
    return json(error.status, body, { ...headers, ...challenge });
  }
  const status = statusOf(error);
  return json(status, { error: oauthCode(status), error_description: describe(error) }, headers);
}

function oauthCode(status: number): string {
  if (status >= INTERNAL_ERROR_STATUS)
    return status === 500 ? 'server_error' : 'temporarily_unavailable';
  return 'invalid_request';
}

/** The gateway's codes are positive: MCP 2026-07-28 and JSON-RPC reserve the others. */
const GATEWAY_CODE_FACTOR = 100;
const DENIED_CODE = 40301;

function jsonRpcError(error: unknown, failed: FailedRequest): GatewayResponse {
  const status = statusOf(error);
  const messageId = error instanceof InvalidMessageError ? error.messageId : failed.messageId;
  const body = {
    jsonrpc: '2.0',
    id: messageId,
    error: {
      code: jsonRpcCode(error, status),
      message: describeToMcpClient(error),
      data: { reason: publicReason(error), request_id: failed.requestId },
    },
  };
  return json(status, body, headersOf(error, failed));
}

function describeToMcpClient(error: unknown): string {
  const description = describe(error);
  return error instanceof BodyTooLargeError ? `${description} (max_request_bytes)` : description;
}

function jsonRpcCode(error: unknown, status: number): number {
  if (error instanceof InvalidMessageError) return error.code;
  if (error instanceof ToolCallDeniedError) return DENIED_CODE;
  return status * GATEWAY_CODE_FACTOR + 1;
}

/** The response does not reveal why a token is invalid; the log does. */
function publicReason(error: unknown): string {
  if (error instanceof TokenRequiredError) return error.tokenWasSent ? 'invalid-token' : 'no-token';
  return error instanceof GatewayError ? error.reason : 'internal-error';
}

function textError(error: unknown, failed: FailedRequest): GatewayResponse {
  const status = statusOf(error);
  const body = {
    error: publicReason(error),
    message: describe(error),
    request_id: failed.requestId,
  };
  return json(status, body, headersOf(error, failed));
}

/** Describes an error in words that everyone may read. */
function describe(error: unknown): string {
  if (error instanceof InvalidMessageError) return error.message;
  if (error instanceof BodyTooLargeError) {
    return `the body is longer than the ${String(error.limitBytes)} bytes allowed here`;
  }
  if (error instanceof MethodNotAllowedError) return error.message;
  if (error instanceof ToolCallDeniedError) {
    return 'this tool call is not permitted by policy; other requests are not affected';
  }
  if (error instanceof TokenRequiredError) {
    return error.tokenWasSent
      ? 'the access token is not valid here'
      : 'an access token is required';
  }
  return DESCRIPTIONS[statusOf(error)] ?? STATUS_CODES[statusOf(error)] ?? 'the request failed';
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'the request is malformed',
  401: 'signing in is required',
  403: 'the request is not permitted by policy',
  404: 'there is nothing here',
  413: 'the body is too large',
  421: 'this gateway does not serve this host',
  429: 'too many requests; try again later',
  500: 'the gateway failed to handle the request',
  502: 'the server behind the gateway cannot be reached',
  503: 'the gateway cannot handle the request at the moment; try again later',
  504: 'the server behind the gateway did not answer in time',
};

function errorPage(error: unknown, failed: FailedRequest): GatewayResponse {
  const status = statusOf(error);
  const { title, content } = explain(error, status);
  const body = html`
    ${content}
    <footer>Request ID: <code>${failed.requestId}</code></footer>
  `;
  return page(status, { title, content: body }, headersOf(error, failed));
}

function explain(
  error: unknown,
  status: number,
): Pick<Parameters<typeof page>[1], 'title' | 'content'> {
  if (error instanceof ClientIdDomainNotAllowedError) {
    return {
      title: 'This client is not allowed',
      content: html`<p>${error.explanation}</p>
        <dl>
          <dt>Client ID</dt>
          <dd><code>${error.clientId}</code></dd>
        </dl>`,
    };
  }
  if (error instanceof AuthorizationPageError) {
    return {
      title: 'This authorization request cannot be answered',
      content: html`<p>${error.explanation}</p>`,
    };
  }
  if (error instanceof SignInFailedError) return explainSignIn(error);
  const description = describe(error);
  return {
    title: STATUS_CODES[status] ?? 'Error',
    content: html`<p>${description.charAt(0).toUpperCase() + description.slice(1)}.</p>`,
  };
}

function explainSignIn({
  status,
  startAgainUrl = PATHS.signIn,
}: SignInFailedError): Pick<Parameters<typeof page>[1], 'title' | 'content'> {
  return {
    title: 'Signing in did not work',
    content: html`<p>${SIGN_IN_ADVICE[status]}</p>
      <p><a class="button" href="${startAgainUrl}">Try again</a></p>`,
  };
}

const SIGN_IN_ADVICE = {
  400: 'This sign-in has expired, was used already, or was not started in this browser.',
  403: 'The identity provider did not let you in.',
  500: 'The gateway failed to sign you in. If this goes on, give the request ID to your administrator.',
  502: 'The identity provider could not be used. If this goes on, give the request ID to your administrator.',
} as const;
