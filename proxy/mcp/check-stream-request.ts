import { BadRequestError, NotAcceptableError } from '../errors/request-errors.ts';
import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { isStateless } from './mirrored-headers.ts';
import { MCP_SESSION_ID, rawHeaderValues } from './raw-header.ts';

/**
 * Checks that a GET asks for a stream of events, and that a DELETE ends a session. Since 2026-07-28
 * there are neither streams to open nor sessions.
 *
 * Attack: what a server answers to other requests at the path of its endpoint, such as a page or a
 * document, is not covered by a policy about tools.
 */
export function checkStreamRequest({ method, message: { rawHeaders } }: GatewayRequest): void {
  const [version = ''] = rawHeaderValues(rawHeaders, 'mcp-protocol-version');
  if (isStateless(version)) throw new MethodNotAllowedError(['POST']);
  if (method === 'DELETE') {
    if (rawHeaderValues(rawHeaders, MCP_SESSION_ID).length > 0) return;
    throw new BadRequestError('no-mcp-session', 'a DELETE here must have an Mcp-Session-Id');
  }
  if (!asksForEvents(rawHeaders)) {
    throw new NotAcceptableError('a GET here must accept text/event-stream');
  }
}

const EVENT_STREAM = /^[\t ]*text\/event-stream[\t ]*(?:;|$)/i;
const NOT_ACCEPTABLE = /;[\t ]*q=0(?:\.0{0,3})?[\t ]*(?:;|$)/i;

/**
 * Returns whether the `Accept` of a request lists the type of event streams, as the transport requires of
 * a GET and of a POST (D-008).
 */
export function asksForEvents(rawHeaders: readonly string[]): boolean {
  return rawHeaderValues(rawHeaders, 'accept').some((accept) =>
    accept.split(',').some((type) => EVENT_STREAM.test(type) && !NOT_ACCEPTABLE.test(type)),
  );
}
