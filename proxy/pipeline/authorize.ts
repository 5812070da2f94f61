import type { CompiledSettings, ToolDenial } from '../../shared/snapshot/snapshot.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import { PolicyDeniedError, ToolCallDeniedError } from '../errors/denial-errors.ts';
import { SignInRequiredError } from '../errors/authentication-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { identityOf, type Caller } from '../authentication/caller.ts';
import { asksForEvents } from '../mcp/check-stream-request.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import { isPermitted } from '../policy/build-policy-evaluator.ts';
import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import type { Decision } from '../policy/decision.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { Identity } from '../records/session.ts';
import { decisionInSpan } from '../telemetry/tracing/decision-in-span.ts';
import type { DecidedRequest } from '../telemetry/authorization-log.ts';
import { isAnonymousPreflight } from './anonymous-preflight.ts';
import type { InspectedBody } from './inspect.ts';
import type { Permit } from './permit.ts';

/** The request to authorize, and where the decision is logged. */
export interface Authorization {
  readonly request: GatewayRequest;
  /** On MCP server routes, the body of a POST. */
  readonly body: InspectedBody | undefined;
  readonly authorizationLog: DecisionLog;
  readonly configuration: {
    readonly settings: Pick<CompiledSettings, 'authorizeLogFields' | 'toolDenial'>;
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Receives every decision, and the input that it is made from. */
export interface DecisionLog {
  write(
    checked: DecidedRequest,
    decision: Decision,
    fields: CompiledSettings['authorizeLogFields'],
    input: PolicyInput,
  ): void;
}

/**
 * Evaluates the route's policy, logs the decision, and returns a permit or throws.
 *
 * Public routes permit everyone. On all others an anonymous caller is refused, even by a policy with
 * `accept`, unless the request is a preflight that the policy allows.
 */
export function authorize(
  route: GatewayRoute,
  caller: Caller,
  { request, body, authorizationLog, configuration, now }: Authorization,
): Permit {
  const message = body?.message;
  const identity = identityOf(caller);
  const input = policyInput(route, identity, { request, body, now });
  const span = request.trace?.span;
  const decision =
    span === undefined ? decide(route, input) : decisionInSpan(span, () => decide(route, input));
  const { authorizeLogFields: fields, toolDenial } = configuration.settings;
  const checked = { request, route, caller, body };
  authorizationLog.write(checked, decision, fields, input);
  if (!isPermitted(decision)) {
    throw refusal(route, input, { request, decision, message, toolDenial });
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the one place that makes the brand
  return checked as Permit;
}

/** Reads only what the policy needs, so that others cost nothing. */
function policyInput(
  route: GatewayRoute,
  identity: Identity | undefined,
  { request, body, now }: Pick<Authorization, 'request' | 'body' | 'now'>,
): PolicyInput {
  const { policy } = route;
  const { method, path, remoteAddress } = request;
  const message = body?.message;
  return {
    identity,
    method,
    path,
    clientAddress: remoteAddress,
    time: policy?.reads.has('time') === true ? now() : 0,
    isPreflight: isAnonymousPreflight(request, route),
    mcpMethod: message?.method,
    toolName: message?.toolName,
    toolArguments: message?.toolArguments,
    resources: body?.subjects?.resources ?? NO_RESOURCES,
    prompt: body?.subjects?.prompt,
  };
}

const NO_RESOURCES: readonly string[] = [];

const PUBLIC: Decision = { allow: true, allowReasons: ['accept'], deny: false, denyReasons: [] };
const NO_POLICY: Decision = { allow: false, allowReasons: [], deny: false, denyReasons: [] };

function decide({ compiled, policy }: GatewayRoute, input: PolicyInput): Decision {
  if (compiled.access.kind === 'public') return PUBLIC;
  return policy?.decide(input) ?? NO_POLICY;
}

/** Everything besides the route and the input that decides how a denied request is answered. */
interface Denial {
  readonly request: GatewayRequest;
  readonly decision: Decision;
  readonly message: JsonRpcMessage | undefined;
  readonly toolDenial: ToolDenial | undefined;
}

function refusal(
  route: GatewayRoute,
  input: PolicyInput,
  { request, decision, message, toolDenial = 'error' }: Denial,
): GatewayError {
  const { compiled, policy } = route;
  if (input.identity === undefined) {
    return compiled.mcpServer === undefined
      ? new SignInRequiredError('the route requires a user')
      : new TokenRequiredError('anonymous', { tokenWasSent: false });
  }
  const isToolRequest = message?.kind === 'request' && message.toolName !== undefined;
  const isForModel = isToolRequest && readsResponses(request, route);
  if (isForModel && policy?.wouldPermitSomeTool(input) === true) {
    const { protocolVersion } = message;
    const answeredAs = compiled.mcpServer?.toolDenial ?? toolDenial;
    return new ToolCallDeniedError('the policy denies this tool', { answeredAs, protocolVersion });
  }
  return new PolicyDeniedError(reasonOf(decision));
}

/**
 * Returns whether the client reads JSON-RPC in the response to its POST. A client of the old HTTP+SSE
 * transport, which is at a sub-path, does not: it would wait for its stream, and gets a 403 at once.
 */
function readsResponses({ path, message }: GatewayRequest, { mcpPaths }: GatewayRoute): boolean {
  return mcpPaths?.get(path) === 'endpoint' || asksForEvents(message.rawHeaders);
}

/** Returns one code for a denial. It never comes from `deny`, where `groups-ok` is a reason to deny. */
function reasonOf({ allow, allowReasons }: Decision): string {
  return allow ? 'denied' : (allowReasons[0] ?? 'not-allowed');
}
