import { identityOf } from '../authentication/caller.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import { InvalidMcpSessionIdError, McpSessionNotFoundError } from '../errors/mcp-session-errors.ts';
import { BadRequestError } from '../errors/request-errors.ts';
import type { RawFields } from '../forwarding/response/response-headers.ts';
import type { McpSessionOwner, McpSessions } from '../mcp-sessions/mcp-sessions.ts';
import { isStateless } from '../mcp/mirrored-headers.ts';
import { MCP_SESSION_ID, rawHeaderValues } from '../mcp/raw-header.ts';
import { beginsWithUrls } from '../mcp/url-elicitation.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import { setSession } from '../telemetry/tracing/set-session.ts';
import type { Permit } from './permit.ts';

/** The MCP session of a permitted request to an MCP route. */
export interface McpSession {
  readonly owner: McpSessionOwner;
  /** Absent before the session begins. */
  readonly ids: McpSessionIds | undefined;
  /** The request is of a revision without sessions: neither side gets an id. */
  readonly isStateless: boolean;
}

/** What the client calls a session, and what the server calls it. */
interface McpSessionIds {
  readonly client: string;
  readonly server: string;
  /** See `SealedSession`. */
  readonly takesUrls: boolean;
}

/** Options of `mcpSessionOf`. */
export interface McpSessionOptions {
  /** Origin of the route's host. */
  readonly origin: Origin;
  readonly configuration: { readonly settings: Pick<Configuration['settings'], 'gatewayId'> };
  readonly mcpSessions: McpSessions;
}

/**
 * Finds the MCP session that a permitted request names. Throws if it is not a session of this user on this
 * route. Undefined on other routes.
 */
export function mcpSessionOf(
  { request, route, caller }: Permit,
  { origin, configuration, mcpSessions }: McpSessionOptions,
): McpSession | undefined {
  if (route.compiled.mcpServer === undefined) return undefined;
  const { headers, rawHeaders } = request.message;
  const owner = {
    gatewayId: configuration.settings.gatewayId,
    resource: resourceIdentifier(route.compiled, origin),
    identity: identityOf(caller),
  };
  const version = headers['mcp-protocol-version'];
  if (typeof version === 'string' && isStateless(version)) {
    return { owner, ids: undefined, isStateless: true };
  }
  const client = headers[MCP_SESSION_ID];
  if (client === undefined) return { owner, ids: undefined, isStateless: false };
  const sealed = typeof client === 'string' ? mcpSessions.open(client, owner) : null;
  if (sealed !== null) {
    const { id: server, takesUrls } = sealed;
    const span = request.trace?.span;
    if (span !== undefined) setSession(span, String(client));
    return { owner, ids: { client: String(client), server, takesUrls }, isStateless: false };
  }
  if (rawHeaderValues(rawHeaders, MCP_SESSION_ID).length > 1) {
    throw new BadRequestError('repeated-session-id', 'the Mcp-Session-Id header is repeated');
  }
  throw new McpSessionNotFoundError(
    typeof client === 'string' && mcpSessions.isOfUnknownKey(client)
      ? 'unknown-sealing-key: the key that sealed the id is not among the sealing keys'
      : 'the MCP session is not one of this user on this route',
  );
}

/**
 * Returns the id of an MCP session for the client, from the header of the server's response to a permitted
 * request; undefined if it has none.
 *
 * Throws if the server's id is not one: a client without it would call without its session.
 */
export function sessionIdForClient(
  { body }: Permit,
  rawHeaders: RawFields,
  { owner, ids, isStateless }: McpSession,
  mcpSessions: McpSessions,
): string | undefined {
  // Some servers without sessions send the field empty.
  const sent = rawHeaderValues(rawHeaders, MCP_SESSION_ID).filter((value) => value !== '');
  const [id, ...more] = sent;
  if (id === undefined || isStateless) return undefined;
  // A session keeps its id, so that a response within it costs no cryptography.
  if (id === ids?.server && more.length === 0) return ids.client;
  const takesUrls = ids?.takesUrls ?? (body?.message !== undefined && beginsWithUrls(body.message));
  const sealed = more.length === 0 ? mcpSessions.seal({ id, takesUrls }, owner) : null;
  if (sealed === null) {
    throw new InvalidMcpSessionIdError('the Mcp-Session-Id of the upstream is malformed');
  }
  return sealed;
}
