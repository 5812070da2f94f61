import { withTrace } from '../../shared/telemetry/tracing/active-trace.ts';
import type { AuthenticationContext } from '../authentication/authenticator.ts';
import type { InternalToken } from '../records/internal-token.ts';
import type {
  InternalTokens,
  TokenOrNone,
} from '../upstream-oauth/internal-tokens/internal-tokens.ts';
import type { InternalTokenContext } from '../upstream-oauth/internal-tokens/token-use.ts';
import type { McpSession } from './mcp-session.ts';
import { notConnected, signedInCaller, type ConnectStages } from './not-connected.ts';
import type { Permit } from './permit.ts';

/** What `internalTokenFor` uses besides the request. */
export interface InternalTokenStages extends ConnectStages {
  readonly internalTokens: Pick<InternalTokens, 'tokenFor'>;
}

/**
 * Returns the internal token (TI) with which a permitted request is sent to an upstream with OAuth of its
 * own; without a promise while the cache is warm. Undefined on all other routes.
 *
 * Throws or rejects with a `NotConnectedError` if the user has none, with a `ConnectionNeedsSignInError` if
 * nobody signed in, and with an `UnavailableError` if a new one is needed and cannot be had now.
 */
export function internalTokenFor(
  permit: Permit,
  session: McpSession | undefined,
  context: AuthenticationContext & InternalTokenContext,
  stages: InternalTokenStages,
): InternalToken | Promise<InternalToken> | undefined {
  const { request, route } = permit;
  if (route.compiled.mcpServer?.upstreamOAuth === undefined) return undefined;
  const caller = signedInCaller(permit);
  const found = withTrace(request.trace, () =>
    stages.internalTokens.tokenFor(caller, route.compiled, context),
  );
  const required = (token: TokenOrNone): InternalToken => {
    if (token !== 'not-connected') return token;
    throw notConnected(permit, session, context, stages);
  };
  return found instanceof Promise ? found.then(required) : required(found);
}
