import { DENIED, gatewayCode } from '../mcp/json-rpc-codes.ts';
import { toolDenialResult } from '../mcp/tool-denial-result.ts';
import { inputRequiredResult, urlElicitationError } from '../mcp/url-elicitation.ts';
import type { OutgoingHttpHeaders } from 'node:http';

import type { ErrorAudience } from '../endpoints/endpoint.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import { TooManyRequestsError, ToolCallDeniedError } from '../errors/denial-errors.ts';
import { NotConnectedError, type UrlElicitation } from '../errors/not-connected-errors.ts';
import { InvalidClientError, OAuthError } from '../errors/oauth-errors.ts';
import {
  describePublicly,
  INTERNAL_ERROR_STATUS,
  publicReason,
  statusOf,
} from '../errors/public-view.ts';
import {
  BodyTooLargeError,
  BodyTooSlowError,
  InvalidMessageError,
} from '../errors/request-errors.ts';
import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { json } from '../http/responses.ts';
import { errorPage } from '../pages/error-page.ts';

/** Everything besides the error that decides the response to a failed request. */
export interface FailedRequest {
  readonly requestId: string;
  readonly audience: ErrorAudience;
  /** Id of the JSON-RPC request; null if none could be parsed. */
  readonly messageId: string | number | null;
  /** Returns the `WWW-Authenticate` value for a caller without a usable token. */
  readonly challenge: (tokenWasSent: boolean) => string;
  /** Whether the client used the Basic scheme; the challenge then uses it too. */
  readonly usedBasic: boolean;
}

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
      return errorPage(error, failed.requestId, headersOf(error, failed));
    case 'text':
      return textError(error, failed);
  }
}

/** Returns the headers of an error, for every audience. */
function headersOf(error: unknown, { challenge }: FailedRequest): OutgoingHttpHeaders {
  if (error instanceof TokenRequiredError) {
    return { 'www-authenticate': challenge(error.tokenWasSent) };
  }
  // The token is good, so the challenge has no error code.
  if (isChallengeToConnect(error)) return { 'www-authenticate': challenge(false) };
  // RFC 9110, section 15.5.9. Otherwise the rest of the body could keep the connection busy.
  if (error instanceof BodyTooSlowError) return { connection: 'close' };
  if (error instanceof MethodNotAllowedError) return { allow: error.allow.join(', ') };
  if (error instanceof TooManyRequestsError || error instanceof UnavailableError) {
    return { 'retry-after': String(error.retryAfterSeconds) };
  }
  return {};
}

/** RFC 6749, section 5.2, and the request ID, which clients ignore, and often log. */
function oauthError(error: unknown, failed: FailedRequest): GatewayResponse {
  const headers = headersOf(error, failed);
  const request = { request_id: failed.requestId };
  if (error instanceof OAuthError) {
    const body = { error: error.code, error_description: error.description, ...request };
    const mustChallenge = error instanceof InvalidClientError && failed.usedBasic;
    const challenge = mustChallenge ? { 'www-authenticate': 'Basic realm="gatehouse"' } : {};
    return json(error.status, body, { ...headers, ...challenge });
  }
  const status = statusOf(error);
  return json(
    status,
    { error: oauthCode(status), error_description: describePublicly(error), ...request },
    headers,
  );
}

function oauthCode(status: number): string {
  if (status < INTERNAL_ERROR_STATUS) return 'invalid_request';
  return status === INTERNAL_ERROR_STATUS ? 'server_error' : 'temporarily_unavailable';
}

function jsonRpcError(error: unknown, failed: FailedRequest): GatewayResponse {
  if (error instanceof ToolCallDeniedError && error.answeredAs === 'result') {
    const denial = { text: describePublicly(error), reason: error.reason, ...failed };
    const result = toolDenialResult(denial, error.protocolVersion);
    return json(error.status, { jsonrpc: '2.0', id: failed.messageId, result });
  }
  if (error instanceof NotConnectedError && error.elicitation !== undefined) {
    return json(error.status, elicitation(error.elicitation, error, failed));
  }
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

/** Returns the JSON-RPC response by which a client is asked to have its user connect. */
function elicitation(
  { form, url, id, requestState }: UrlElicitation,
  { reason }: NotConnectedError,
  { messageId, requestId }: FailedRequest,
): Readonly<Record<string, unknown>> {
  const page = { url, message: WHY_TO_CONNECT, reason, requestId };
  return {
    ...{ jsonrpc: '2.0', id: messageId },
    ...(form === 'error'
      ? { error: urlElicitationError(page, id) }
      : { result: inputRequiredResult(page, requestState) }),
  };
}

/** For the user, who sees the host of the MCP server in the URL. */
const WHY_TO_CONNECT =
  'This MCP server needs your authorization. Open the page to give it, then try again.';

function isChallengeToConnect(error: unknown): boolean {
  return error instanceof NotConnectedError && error.elicitation === undefined;
}

/** A proxy does not know whether the operator writes manifests or plain YAML, so it names both fields. */
function describeToMcpClient(error: unknown): string {
  const description = describePublicly(error);
  return error instanceof BodyTooLargeError
    ? `${description} (maxRequestBytes, max_request_bytes)`
    : description;
}

function jsonRpcCode(error: unknown, status: number): number {
  if (error instanceof InvalidMessageError) return error.code;
  if (error instanceof ToolCallDeniedError) return DENIED;
  return gatewayCode(status);
}

function textError(error: unknown, failed: FailedRequest): GatewayResponse {
  const status = statusOf(error);
  const body = {
    error: publicReason(error),
    message: describePublicly(error),
    request_id: failed.requestId,
  };
  return json(status, body, headersOf(error, failed));
}
