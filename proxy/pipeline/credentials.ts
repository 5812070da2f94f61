import type { Caller } from '../authentication/caller.ts';
import type { AssertionSigner } from '../identity/assertion/assertion.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type {
  CredentialsOfClient,
  UpstreamCredentials,
} from '../forwarding/request/upstream-headers.ts';
import type { InternalToken } from '../records/internal-token.ts';
import type { McpSession } from './mcp-session.ts';
import type { Permit } from './permit.ts';

/** The header that names the caller to upstreams (specification: Identity assertion). */
const ASSERTION_HEADER = 'X-Gateway-Assertion';

const SESSION_HEADER = 'Mcp-Session-Id';

/** Options of `credentials`. */
export interface CredentialsOptions {
  /** Origin of the route's host. */
  readonly origin: string;
  readonly configuration: Pick<Configuration, 'signingKeys'>;
  readonly assertions: AssertionSigner;
  /** Absent on routes that are not MCP routes, and for WebSockets. */
  readonly session: McpSession | undefined;
  /** For an upstream with OAuth of its own (specification: Internal Token). */
  readonly internalToken: InternalToken | undefined;
}

/**
 * Decides which credentials the upstream gets with a permitted request: those of the client that are not for
 * the gateway, the internal token, and the assertion of the caller's identity. The gateway's own cookies and
 * tokens are never passed on.
 */
export function credentials(
  { route, caller }: Permit,
  { origin, configuration, assertions, session, internalToken }: CredentialsOptions,
): UpstreamCredentials {
  const ofClient = credentialsOfClient(route, caller);
  const added = session?.ids === undefined ? [] : [SESSION_HEADER, session.ids.server];
  if (internalToken !== undefined)
    added.push('Authorization', `Bearer ${internalToken.accessToken}`);
  if (caller.kind === 'anonymous') return { ofClient, added };
  if (caller.via === 'session-cookie' && caller.applicationToken !== undefined) {
    added.push('Authorization', `Bearer ${caller.applicationToken}`);
  }
  const assertion = assertions.assertionFor(caller.session, origin, configuration.signingKeys);
  added.push(ASSERTION_HEADER, assertion);
  return { ofClient, added };
}

/**
 * On MCP server routes the session has the server's own id. A token that the gateway interpreted was for the
 * gateway: with it, the upstream could act as the caller elsewhere.
 */
function credentialsOfClient({ compiled }: GatewayRoute, caller: Caller): CredentialsOfClient {
  if (compiled.mcpServer !== undefined) return 'remove';
  // Attack: the backend acts for whoever's token the client sends.
  if (compiled.mcpClient === true) return 'forward-session';
  return caller.kind === 'user' && caller.via === 'bearer-token' ? 'forward-session' : 'forward';
}
