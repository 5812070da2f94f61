import type { CompiledBackend } from '../../shared/snapshot/snapshot.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Services } from '../configuration/service-targets.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import { rankOf, RANKS } from '../forwarding/targets/rank.ts';
import type { TargetChoice } from '../forwarding/targets/target.ts';
import { upstreamOrigin } from '../forwarding/upstream-path.ts';
import { identityOf } from '../authentication/caller.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import type { Identity } from '../records/session.ts';
import { userKey } from '../records/user-key.ts';
import type { Permit } from './permit.ts';

/** The upstream to which a request is sent. */
export interface ChosenUpstream {
  /** `scheme://host[:port]`, from which `Host` is made; for a Service it has the name of the Service. */
  readonly origin: string;
  /** The targets of a Service; absent where `origin` itself gets the request. */
  readonly choice: TargetChoice | undefined;
}

/** Options of `chooseUpstream`. */
export interface ChooseUpstreamOptions {
  readonly configuration: Pick<Configuration, 'services'>;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * Chooses where a permitted request is sent: to its route's `to`, or to one of the route's Services
 * by weight. Throws `UnavailableError` when the chosen Service has no target.
 *
 * Only the server that began an MCP session knows it, and no proxy knows where another proxy sent the
 * first request of a session. Therefore all requests of a user to an MCP route go to one target of one
 * Service, for as long as Services and targets stay the same.
 */
export function chooseUpstream(permit: Permit, choices: ChooseUpstreamOptions): ChosenUpstream {
  const { compiled } = permit.route;
  if (compiled.backends === undefined) {
    return { origin: upstreamOrigin(compiled), choice: undefined };
  }
  const callerRank = callerRankOf(permit);
  const share = callerRank === undefined ? choices.random() : callerRank / RANKS;
  const { services } = choices.configuration;
  return serviceTargets(backendAt(compiled.backends, share), services, callerRank);
}

/** Returns the rank of a caller whose requests must reach one target; undefined for all others. */
function callerRankOf({ request, route, caller }: Permit): number | undefined {
  if (route.compiled.mcpServer === undefined) return undefined;
  const identity = identityOf(caller);
  return identity === undefined ? rankOf(request.remoteAddress) : rankOfUser(identity);
}

/** By subject, not by session: a user who signs in again stays with the same server. */
const rankOfUser = oncePerObject((identity: Identity) => rankOf(userKey(identity)));

/** Returns the backend at a point of [0, 1), which is divided among the backends by their weights. */
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
