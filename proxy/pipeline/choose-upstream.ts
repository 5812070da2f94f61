import type { CompiledBackend } from '../../shared/snapshot/snapshot.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Services } from '../configuration/service-targets.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import { rankOf, RANKS } from '../forwarding/targets/rank.ts';
import type { TargetChoice } from '../forwarding/targets/target.ts';
import { upstreamOrigin } from '../forwarding/upstream-path.ts';
import { identityOf } from '../authentication/caller.ts';
import type { Permit } from './permit.ts';

/** Where a request is sent. */
export interface ChosenUpstream {
  /** `scheme://host[:port]` that `Host` is made from; for a Service its own name. */
  readonly origin: string;
  /** The targets of a Service; absent where `origin` itself gets the request. */
  readonly choice: TargetChoice | undefined;
}

/** What an upstream is chosen from. */
export interface UpstreamChoices {
  readonly configuration: Pick<Configuration, 'services'>;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * Chooses where a permitted request is sent: to its route's `to`, or to one of the route's Services
 * by weight. Throws `UnavailableError` when the chosen Service has no target.
 *
 * MCP servers keep sessions that only the server that began one knows, and no proxy sees where
 * another proxy sent a session's first request. So all requests of a user to an MCP route go to one
 * Service, and to one target of it, for as long as these stay the same.
 */
export function chooseUpstream(permit: Permit, choices: UpstreamChoices): ChosenUpstream {
  const { compiled } = permit.route;
  if (compiled.backends === undefined) {
    return { origin: upstreamOrigin(compiled), choice: undefined };
  }
  const callerRank = callerRankOf(permit);
  const share = callerRank === undefined ? choices.random() : callerRank / RANKS;
  const { services } = choices.configuration;
  return serviceTargets(backendAt(compiled.backends, share), services, callerRank);
}

/** Stands for the user where requests must keep to one target; undefined where they need not. */
function callerRankOf({ request, route, caller }: Permit): number | undefined {
  if (route.compiled.mcpServer === undefined) return undefined;
  const identity = identityOf(caller);
  // A user who signs in again goes on with the same server.
  return rankOf(
    identity === undefined ? request.remoteAddress : `${identity.provider} ${identity.subject}`,
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

function serviceTargets(
  backend: CompiledBackend | undefined,
  services: Services,
  callerRank: number | undefined,
): ChosenUpstream {
  if (backend?.service === undefined) {
    throw new UnavailableError('no-backend', 'the backend does not exist or must not be used');
  }
  const { service, port } = backend;
  const targets = services.get(service)?.get(port) ?? [];
  if (targets.length === 0) {
    throw new UnavailableError('no-endpoint', `${service} has no target for port ${String(port)}`);
  }
  return { origin: serviceOrigin(service, port), choice: { targets, callerRank } };
}

const HTTP_PORT = 80;

/** `http://name.namespace.svc:port`. */
function serviceOrigin(service: string, port: number): string {
  const slash = service.indexOf('/');
  const host = `http://${service.slice(slash + 1)}.${service.slice(0, slash)}.svc`;
  return port === HTTP_PORT ? host : `${host}:${String(port)}`;
}
