import type { CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';
import { upstreamHeaders } from '../forwarding/request/upstream-headers.ts';
import { upstreamOrigin, upstreamPath } from '../forwarding/upstream-path.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Session } from '../records/session.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { callerRankOf, chooseBackend } from './choose-backend.ts';
import type { Permit } from './permit.ts';

/** The header that tells upstreams who calls (specification: Identity assertion). */
const ASSERTION_HEADER = 'X-Gateway-Assertion';

/** Says who a session's user is, to the upstreams of one host. No promise while it is cached. */
export interface AssertionSource {
  assertionFor(
    session: Session,
    routeOrigin: string,
    configured: CompiledSigningKeys | undefined,
  ): string | Promise<string>;
}

/** What goes into the upstream request besides the client's own. */
export interface UpstreamParts {
  readonly origin: string;
  /** Keys the settings name for the assertion, and Services that routes name. */
  readonly configuration: Pick<Configuration, 'signingKeys' | 'services'>;
  readonly assertions: AssertionSource;
  /** The body, where it was read already. */
  readonly bytes: Buffer | undefined;
}

/**
 * Makes the request for the upstream: its URL, the client's header fields without what is the
 * gateway's to say, and the assertion of the caller's identity.
 */
export function prepareUpstream(
  permit: Permit,
  request: GatewayRequest,
  parts: UpstreamParts,
): UpstreamRequest | Promise<UpstreamRequest> {
  const { caller } = permit;
  if (caller.kind === 'anonymous') return build(permit, request, parts, []);
  const { assertions, origin, configuration } = parts;
  const assertion = assertions.assertionFor(caller.session, origin, configuration.signingKeys);
  return assertion instanceof Promise
    ? assertion.then((signed) => build(permit, request, parts, [ASSERTION_HEADER, signed]))
    : build(permit, request, parts, [ASSERTION_HEADER, assertion]);
}

function build(
  permit: Permit,
  request: GatewayRequest,
  { bytes, configuration }: UpstreamParts,
  added: readonly string[],
): UpstreamRequest {
  const { compiled } = permit.route;
  const isMcpServer = compiled.mcpServer !== undefined;
  const { origin, choice } = destination(permit, request, configuration);
  return {
    origin,
    choice,
    path: upstreamPath(compiled, request),
    headers: upstreamHeaders(request, {
      scheme: compiled.scheme,
      authorization: isMcpServer ? 'remove' : 'forward',
      added,
    }),
    body: bytes ?? (isMcpServer ? 'none' : 'stream'),
    responseTimeoutMs: compiled.responseTimeoutMs,
  };
}

function destination(
  { route: { compiled }, caller }: Permit,
  request: GatewayRequest,
  { services }: Pick<Configuration, 'services'>,
): Pick<UpstreamRequest, 'origin' | 'choice'> {
  const { backends } = compiled;
  if (backends === undefined) return { origin: upstreamOrigin(compiled), choice: undefined };
  return chooseBackend(backends, services, callerRankOf(compiled, caller, request));
}
