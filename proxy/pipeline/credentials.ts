import type { AssertionSigner } from '../identity/assertion/assertion.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { UpstreamCredentials } from '../forwarding/request/upstream-headers.ts';
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
}

/**
 * Decides which credentials the upstream gets with a permitted request: the client's `Authorization` and
 * `Mcp-Session-Id`, except on MCP server routes, where the session has the server's own id; and the
 * assertion of the caller's identity. The gateway's own cookies and tokens are never passed on.
 */
export function credentials(
  { route, caller }: Permit,
  { origin, configuration, assertions, session }: CredentialsOptions,
): UpstreamCredentials {
  const ofClient = route.compiled.mcpServer === undefined ? 'forward' : 'remove';
  const added = session?.ids === undefined ? [] : [SESSION_HEADER, session.ids.server];
  if (caller.kind === 'anonymous') return { ofClient, added };
  const assertion = assertions.assertionFor(caller.session, origin, configuration.signingKeys);
  added.push(ASSERTION_HEADER, assertion);
  return { ofClient, added };
}
