import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import { PATHS } from '../endpoints/paths.ts';
import type { ConnectError } from '../errors/connection-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { seeOther } from '../http/responses.ts';
import { authenticateOriginFor } from '../identity/sign-in/authenticate-host.ts';
import type { ReturnTarget } from '../records/pending-connection.ts';
import type { Session } from '../records/session.ts';
import type { AuditDetails } from '../telemetry/audit-log.ts';
import { TokenRequestError } from '../upstream-oauth/protocol/token-request-error.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';
import { failedResult, type ConnectionResult } from './connection-result.ts';
import { connectedPage, connectionFailedPage } from './pages.ts';
import { readReturnUrl, withConnectError } from './return-url.ts';

/** An attempt to connect that ends: whose it was, for which route, and who waits for it. */
export interface EndedAttempt {
  readonly route: CompiledRoute | undefined;
  readonly session: Session;
  readonly returnTo: ReturnTarget;
}

type FinishOptions = Pick<ConnectEndpointOptions, 'finishAuthorization' | 'devAllowLoopback'>;

/** Tells whoever waits for an attempt how it ended. */
export async function finishConnection(
  result: ConnectionResult,
  { returnTo, session }: Pick<EndedAttempt, 'returnTo' | 'session'>,
  context: EndpointContext,
  { finishAuthorization, devAllowLoopback }: FinishOptions,
): Promise<GatewayResponse> {
  switch (returnTo.kind) {
    case 'authorization':
      return finishAuthorization(returnTo.pending, result, session, context);
    case 'redirect':
      return returnToApplication(returnTo.url, result, context, devAllowLoopback);
    case 'account':
      return seeOther(withResult(authenticateOriginFor(context) + PATHS.account, result));
    case 'page':
      return resultPage(result, context);
  }
}

/** Attack: open redirector. A host that lost its last Route meanwhile may belong to somebody else now. */
function returnToApplication(
  url: string,
  result: ConnectionResult,
  context: EndpointContext,
  devAllowLoopback: boolean,
): GatewayResponse {
  const { routes } = context.configuration;
  return readReturnUrl(url, { routes, devAllowLoopback }) === null
    ? resultPage(result, context)
    : seeOther(withResult(url, result));
}

function resultPage(result: ConnectionResult, { request }: EndpointContext): GatewayResponse {
  return result.kind === 'connected' ? connectedPage() : connectionFailedPage(result, request.id);
}

function withResult(url: string, result: ConnectionResult): string {
  return result.kind === 'connected' ? url : withConnectError(url, result.connectError);
}

/** Logs that a user has connected. */
export function reportConnection(
  attempt: EndedAttempt,
  context: EndpointContext,
  { audit }: Pick<ConnectEndpointOptions, 'audit'>,
): void {
  audit.write('connection-made', context, detailsOf(attempt, context));
}

function detailsOf({ route, session }: EndedAttempt, { origin }: EndpointContext): AuditDetails {
  const { identity, signInId } = session;
  const resource = route && resourceIdentifier(route, origin);
  return { identity, signInId, ...(resource !== undefined && { resource }) };
}

/** Failures that are not the decision of a user, of a policy or of whoever changed the route. */
const FOR_OPERATORS: readonly ConnectError[] = [
  'temporarily_unavailable',
  'server_error',
  'configuration_error',
];

/**
 * Logs why an attempt failed, and tells whoever waits for it. If the authorization server refused, the user is not
 * asked for more scopes than the tokens there are: else a scope that nobody can get would lock the user out.
 */
export async function reportFailure(
  error: unknown,
  attempt: EndedAttempt,
  context: EndpointContext,
  options: FinishOptions & Pick<ConnectEndpointOptions, 'audit' | 'logger' | 'internalTokens'>,
): Promise<GatewayResponse> {
  const { route, session } = attempt;
  context.request.trace?.span?.recordError(error);
  const result = failedResult(error);
  const isRefused = result.connectError !== 'temporarily_unavailable';
  if (route !== undefined && isRefused && error instanceof TokenRequestError) {
    await options.internalTokens.giveUpScopes(session.identity, route);
  }
  const reason = error instanceof GatewayError ? error.reason : 'internal-error';
  options.audit.write('connection-failed', context, { ...detailsOf(attempt, context), reason });
  const fields = { 'request-id': context.request.id, route: route?.name, reason };
  if (error instanceof GatewayError) {
    const level = FOR_OPERATORS.includes(result.connectError) ? 'warn' : 'info';
    options.logger[level]('connection failed', fields, error);
  } else {
    const stack = error instanceof Error ? error.stack : undefined;
    options.logger.error('request failed unexpectedly', { ...fields, stack }, error);
  }
  return finishConnection(result, attempt, context, options);
}
