import type { CompiledBackend, CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import type { TargetChoice } from '../forwarding/targets/target.ts';
import { rankOf, RANKS } from '../forwarding/targets/rank.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { identityOf, type Caller } from '../authentication/caller.ts';
import type { Services } from '../configuration/service-targets.ts';

/** Where a request goes that is for Services. */
export interface ChosenBackend {
  /** The Service's own address, `http://name.namespace.svc:port`: what `Host` is made from. */
  readonly origin: string;
  readonly choice: TargetChoice;
}

const HTTP_PORT = 80;

/**
 * Chooses one of a route's backends by weight, and says which endpoints it has. `Host` is that of the
 * chosen backend's Service. Throws `UnavailableError` when the backend has no endpoint.
 *
 * MCP servers keep sessions that only the server that began one knows, and no proxy sees where another
 * one sent a session's first request. So all requests of a user to an MCP route go to one backend, and
 * to one endpoint of it, while these stay what they are. `callerRank` stands for the user; without one
 * the requests are spread at random.
 */
export function chooseBackend(
  backends: readonly CompiledBackend[],
  services: Services,
  callerRank: number | undefined,
): ChosenBackend {
  const share = callerRank === undefined ? Math.random() : callerRank / RANKS;
  const backend = backendAt(backends, share);
  if (backend?.service === undefined) {
    throw new UnavailableError('no-backend', 'the backend does not exist or must not be used');
  }
  const { service, port } = backend;
  const endpoints = services.get(service)?.get(port) ?? [];
  if (endpoints.length === 0) {
    throw new UnavailableError(
      'no-endpoint',
      `${service} has no endpoint for port ${String(port)}`,
    );
  }
  return { origin: originOf(service, port), choice: { endpoints, callerRank } };
}

/** Stands for the user where requests must keep to one endpoint; undefined where they need not. */
export function callerRankOf(
  { mcpServer }: Pick<CompiledRoute, 'mcpServer'>,
  caller: Caller,
  { remoteAddress }: Pick<GatewayRequest, 'remoteAddress'>,
): number | undefined {
  if (mcpServer === undefined) return undefined;
  const identity = identityOf(caller);
  // A user who signs in again goes on with the same server.
  return rankOf(
    identity === undefined ? remoteAddress : `${identity.provider} ${identity.subject}`,
  );
}

/** The backend that owns a place in [0, 1), where each owns as much as it weighs. */
function backendAt(
  backends: readonly CompiledBackend[],
  share: number,
): CompiledBackend | undefined {
  const total = backends.reduce((sum, { weight }) => sum + weight, 0);
  let end = 0;
  return backends.find(({ weight }) => share * total < (end += weight));
}

function originOf(service: string, port: number): string {
  const slash = service.indexOf('/');
  const host = `http://${service.slice(slash + 1)}.${service.slice(0, slash)}.svc`;
  return port === HTTP_PORT ? host : `${host}:${String(port)}`;
}
