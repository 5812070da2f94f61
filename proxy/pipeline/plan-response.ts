import type { Logger } from '../../shared/telemetry/logger.ts';
import type { RelayPlan, UpstreamResponse } from '../forwarding/response/response-plan.ts';
import { CROSS_ORIGIN_HEADERS } from '../http/cors.ts';
import type { McpSessions } from '../mcp-sessions/mcp-sessions.ts';
import { MCP_SESSION_ID } from '../mcp/raw-header.ts';
import { sessionIdForClient, type McpSession } from './mcp-session.ts';
import type { Permit } from './permit.ts';
import { hidesChallenge, WWW_AUTHENTICATE } from './upstream-challenge.ts';

const REQUEST_ID = 'x-request-id';

const OWN_HEADERS: ReadonlySet<string> = new Set([REQUEST_ID]);

/**
 * On hosts that keep scripts out. Attack: pages of one origin and with one opener policy stay connected, so a
 * page with the policy of the gateway's pages could open the consent page and click it, or read a code in the
 * URL of another one.
 */
const OWN_HEADERS_BESIDE_PAGES: ReadonlySet<string> = new Set([
  REQUEST_ID,
  'cross-origin-opener-policy',
]);

/** On MCP routes the client gets the sealed id of the session, never the server's own. */
const OWN_HEADERS_OF_MCP: ReadonlySet<string> = new Set([
  ...OWN_HEADERS_BESIDE_PAGES,
  MCP_SESSION_ID,
]);

/** On MCP routes the gateway decides which pages may read a response, not the upstream. */
const CORS_HEADERS = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
];

/** The fields of the upstream that the client of an MCP route does not get, and in requests of pages. */
const MCP_HEADERS = {
  own: OWN_HEADERS_OF_MCP,
  withCors: new Set([...OWN_HEADERS_OF_MCP, ...CORS_HEADERS]),
};

const MCP_HEADERS_AND_CHALLENGE = {
  own: new Set([...OWN_HEADERS_OF_MCP, WWW_AUTHENTICATE]),
  withCors: new Set([...OWN_HEADERS_OF_MCP, ...CORS_HEADERS, WWW_AUTHENTICATE]),
};

const CROSS_ORIGIN = Object.entries(CROSS_ORIGIN_HEADERS).flat();

/**
 * Decides what happens with the upstream's response to a permitted request, before its first byte
 * reaches the client: it is relayed, with the gateway's own header fields. Throws if the id of an MCP
 * session cannot be relayed.
 */
export function planResponse(
  permit: Permit,
  response: Pick<UpstreamResponse, 'status' | 'rawHeaders'>,
  { session, mcpSessions, isKeptFromScripts, logger }: ResponseContext,
): RelayPlan {
  const { id, message } = permit.request;
  const add = ['X-Request-Id', id];
  if (session === undefined) {
    const remove = isKeptFromScripts ? OWN_HEADERS_BESIDE_PAGES : OWN_HEADERS;
    return { kind: 'relay', headers: { remove, add } };
  }
  const sessionId = sessionIdForClient(permit, response.rawHeaders, session, mcpSessions);
  if (sessionId !== undefined) add.push('Mcp-Session-Id', sessionId);
  const { own, withCors } = hidesChallenge(permit, response, logger)
    ? MCP_HEADERS_AND_CHALLENGE
    : MCP_HEADERS;
  if (message.headers.origin === undefined) return { kind: 'relay', headers: { remove: own, add } };
  add.push(...CROSS_ORIGIN);
  return { kind: 'relay', headers: { remove: withCors, add } };
}

/** What `planResponse` needs to know besides the response. */
export interface ResponseContext {
  /** Absent on routes that are not MCP routes. */
  readonly session: McpSession | undefined;
  readonly mcpSessions: McpSessions;
  /** See `keepsScriptsOut`. */
  readonly isKeptFromScripts: boolean;
  readonly logger: Pick<Logger, 'warn'>;
}
