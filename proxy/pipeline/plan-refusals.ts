import { withTrace } from '../../shared/telemetry/tracing/active-trace.ts';
import type { AuthenticationContext } from '../authentication/authenticator.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type {
  AnswerPlan,
  RelayPlan,
  ResponsePlan,
  ResponsePlanner,
  UpstreamResponse,
} from '../forwarding/response/response-plan.ts';
import type { AssertionSigner } from '../identity/assertion/assertion.ts';
import type { InternalToken } from '../records/internal-token.ts';
import type {
  InternalTokens,
  TokenOrNone,
} from '../upstream-oauth/internal-tokens/internal-tokens.ts';
import type { InternalTokenContext } from '../upstream-oauth/internal-tokens/token-use.ts';
import { credentials } from './credentials.ts';
import { makeUpstreamRequest } from './make-upstream-request.ts';
import type { McpSession } from './mcp-session.ts';
import { missingScopes } from './missing-scopes.ts';
import { notConnected, signedInCaller, type ConnectStages } from './not-connected.ts';
import type { Permit } from './permit.ts';

const UNAUTHORIZED = 401;

/** A request that is sent with an internal token. */
export interface SentWithToken {
  readonly permit: Permit;
  readonly upstream: UpstreamRequest;
  readonly internalToken: InternalToken;
  readonly session: McpSession | undefined;
  readonly context: AuthenticationContext &
    InternalTokenContext & { readonly configuration: Pick<Configuration, 'signingKeys'> };
  readonly stages: ConnectStages & {
    readonly internalTokens: Pick<InternalTokens, 'replacementOf' | 'drop' | 'requireScopes'>;
    readonly assertions: AssertionSigner;
  };
}

/**
 * Returns the planner of the responses to a request that is sent with an internal token. It relays what the
 * upstream answers, unless the upstream refuses the token.
 *
 * A token that the upstream does not accept is refreshed once, and the request sent again once. If that does not
 * help, the token is dropped, and the user has to connect again. If the token lacks scopes, the user is asked
 * to connect for these too, at most once an hour; otherwise the client gets the response.
 */
export function planRefusals(
  sent: SentWithToken,
  relay: (received: UpstreamResponse) => RelayPlan,
): ResponsePlanner {
  let { internalToken } = sent;
  const replaceToken = async (repeat: UpstreamResponse['repeat']): Promise<ResponsePlan> => {
    const replacement = await replacementFor(internalToken, sent, repeat !== undefined);
    if (repeat === undefined || replacement === 'not-connected') return askToConnect(sent);
    internalToken = replacement;
    return repeat(upstreamRequestWith(replacement, sent));
  };
  // A response may arrive in what another request began: the connection.
  const { trace } = sent.permit.request;
  return (received) => {
    if (received.status === UNAUTHORIZED) {
      return withTrace(trace, () => replaceToken(received.repeat));
    }
    const missing = missingScopes(received);
    if (missing === undefined) return relay(received);
    return withTrace(trace, () => requireScopes(missing, sent)).then((outcome) =>
      outcome === 'asked' ? askToConnect(sent) : relay(received),
    );
  };
}

/** A request that was sent again is not sent a third time: its token was refreshed just now. */
async function replacementFor(
  refused: InternalToken,
  { permit, context, stages: { internalTokens } }: SentWithToken,
  canRepeat: boolean,
): Promise<TokenOrNone> {
  const { compiled } = permit.route;
  const caller = signedInCaller(permit);
  if (canRepeat) return internalTokens.replacementOf(refused, caller, compiled, context);
  await internalTokens.drop(refused, caller, compiled, context);
  return 'not-connected';
}

function upstreamRequestWith(
  internalToken: InternalToken,
  { permit, upstream, session, context, stages: { assertions } }: SentWithToken,
): UpstreamRequest {
  const replaced = credentials(permit, { ...context, assertions, session, internalToken });
  return makeUpstreamRequest(permit, replaced, upstream);
}

function requireScopes(
  scopes: readonly string[],
  { permit, stages: { internalTokens } }: SentWithToken,
): Promise<'asked' | 'asked-lately'> {
  const caller = signedInCaller(permit);
  return internalTokens.requireScopes(caller, permit.route.compiled, scopes);
}

function askToConnect({ permit, session, context, stages }: SentWithToken): AnswerPlan {
  return { kind: 'answer', error: notConnected(permit, session, context, stages) };
}
