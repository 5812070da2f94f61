import type { AssertionSigner } from '../identity/assertion/assertion.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { UpstreamCredentials } from '../forwarding/request/upstream-headers.ts';
import type { Permit } from './permit.ts';

/** The header that names the caller to upstreams (specification: Identity assertion). */
const ASSERTION_HEADER = 'X-Gateway-Assertion';

/** Options of `credentials`. */
export interface CredentialsOptions {
  /** Origin of the route's host. */
  readonly origin: string;
  readonly configuration: Pick<Configuration, 'signingKeys'>;
  readonly assertions: AssertionSigner;
}

/**
 * Decides which credentials the upstream gets with a permitted request: the client's `Authorization`,
 * except on MCP server routes, and the assertion of the caller's identity. The gateway's own cookies and
 * tokens are never passed on.
 *
 * Returns no promise while the assertion is cached.
 */
export function credentials(
  { route, caller }: Permit,
  { origin, configuration, assertions }: CredentialsOptions,
): UpstreamCredentials | Promise<UpstreamCredentials> {
  const authorization = route.compiled.mcpServer === undefined ? 'forward' : 'remove';
  if (caller.kind === 'anonymous') return { authorization, added: [] };
  const assertion = assertions.assertionFor(caller.session, origin, configuration.signingKeys);
  return assertion instanceof Promise
    ? assertion.then((signed) => ({ authorization, added: [ASSERTION_HEADER, signed] }))
    : { authorization, added: [ASSERTION_HEADER, assertion] };
}
