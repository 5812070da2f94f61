import type { RawFields } from '../forwarding/response/response-headers.ts';
import type { RelayPlan } from '../forwarding/response/response-plan.ts';
import { CROSS_ORIGIN_HEADERS } from '../http/cors.ts';
import type { McpSessions } from '../mcp-sessions/mcp-sessions.ts';
import { MCP_SESSION_ID } from '../mcp/raw-header.ts';
import { sessionIdForClient, type McpSession } from './mcp-session.ts';
import type { Permit } from './permit.ts';

const REQUEST_ID = 'x-request-id';

const OWN_HEADERS: ReadonlySet<string> = new Set([REQUEST_ID]);

/**
 * On hosts with consent pages. Attack: pages of one origin and with one opener policy stay connected, so a
 * page with the policy of the consent page could open it and click it.
 */
const OWN_HEADERS_BESIDE_CONSENT: ReadonlySet<string> = new Set([
  REQUEST_ID,
  'cross-origin-opener-policy',
]);

/** On MCP routes the client gets the sealed id of the session, never the server's own. */
const OWN_HEADERS_OF_MCP: ReadonlySet<string> = new Set([
  ...OWN_HEADERS_BESIDE_CONSENT,
  MCP_SESSION_ID,
]);

/** On MCP routes the gateway decides which pages may read a response, not the upstream. */
const OWN_HEADERS_WITH_CORS: ReadonlySet<string> = new Set([
  ...OWN_HEADERS_OF_MCP,
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]);

const CROSS_ORIGIN = Object.entries(CROSS_ORIGIN_HEADERS).flat();

/**
 * Decides what happens with the upstream's response to a permitted request, before its first byte
 * reaches the client: it is relayed, with the gateway's own header fields. Throws if the id of an MCP
 * session cannot be relayed.
 */
export function planResponse(
  { request: { id, message } }: Permit,
  rawHeaders: RawFields,
  { session, mcpSessions, isBesideConsent }: ResponseContext,
): RelayPlan {
  const add = ['X-Request-Id', id];
  if (session === undefined) {
    const remove = isBesideConsent ? OWN_HEADERS_BESIDE_CONSENT : OWN_HEADERS;
    return { kind: 'relay', headers: { remove, add } };
  }
  const sessionId = sessionIdForClient(rawHeaders, session, mcpSessions);
  if (sessionId !== undefined) add.push('Mcp-Session-Id', sessionId);
  if (message.headers.origin === undefined) {
    return { kind: 'relay', headers: { remove: OWN_HEADERS_OF_MCP, add } };
  }
  add.push(...CROSS_ORIGIN);
  return { kind: 'relay', headers: { remove: OWN_HEADERS_WITH_CORS, add } };
}

/** What `planResponse` needs to know besides the response. */
export interface ResponseContext {
  /** Absent on routes that are not MCP routes. */
  readonly session: McpSession | undefined;
  readonly mcpSessions: McpSessions;
  /** The gateway shows consent pages on the same host. */
  readonly isBesideConsent: boolean;
}
