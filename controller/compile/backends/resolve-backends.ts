import type { CompiledBackend } from '../../../shared/snapshot/snapshot.ts';
import type { Problem } from '../../validate/problem.ts';
import type { BackendRef } from './backend-refs.ts';
import { MAX_TARGETS_PER_PORT, MAX_TARGETS_PER_SERVICE } from './target-limits.ts';
import type { ServiceLookup } from './service-lookup.ts';

/** The resolved references of a route. */
export interface ResolvedBackends {
  readonly backends: readonly CompiledBackend[];
  /** Unusable references. The route serves all the same; their share of requests gets a 503. */
  readonly problems: readonly Problem[];
  /** Services that are too large to be used completely. They do not affect conditions. */
  readonly notes: readonly Problem[];
}

/** Resolves the references of a route. */
export function resolveBackends(
  refs: readonly BackendRef[],
  ownNamespace: string,
  services: ServiceLookup,
): ResolvedBackends {
  const resolved = refs.map((ref) => {
    const { path, service, port, weight } = ref;
    const problem = problemOf(ref, ownNamespace, services);
    if (problem !== undefined) {
      return { backend: { port, weight }, problems: [{ path, ...problem }], notes: [] };
    }
    const notes = services.isOversized(service) ? [oversized(ref)] : [];
    return { backend: { service, port, weight }, problems: [], notes };
  });
  return {
    backends: resolved.map(({ backend }) => backend),
    problems: resolved.flatMap(({ problems }) => problems),
    notes: resolved.flatMap(({ notes }) => notes),
  };
}

/** Describes a limit of the gateway, which is not a problem of the reference. */
function oversized({ path, service }: BackendRef): Problem {
  const limits = `${String(MAX_TARGETS_PER_PORT)} targets of a port and ${String(MAX_TARGETS_PER_SERVICE)} of a Service`;
  const message = `Service ${service} is larger than the gateway can use: requests go to the first ${limits}`;
  return { path, reason: 'UnsupportedValue', message };
}

function problemOf(
  ref: BackendRef,
  ownNamespace: string,
  services: ServiceLookup,
): Omit<Problem, 'path'> | undefined {
  const { isService, service, namespace, port } = ref;
  if (!isService) {
    return { reason: 'InvalidKind', message: 'must be a Service of the core group' };
  }
  // Attack: namespaces that may not refer to a Service do not learn whether it exists.
  if (namespace !== ownNamespace && !services.permits(ownNamespace, { kind: 'Service', ...ref })) {
    const message = `no ReferenceGrant in ${namespace} lets Routes of ${ownNamespace} refer to Service ${service}`;
    return { reason: 'RefNotPermitted', message };
  }
  if (!services.has(service)) {
    return { reason: 'BackendNotFound', message: `there is no Service ${service}` };
  }
  if (!services.hasPort(service, port)) {
    const message = `Service ${service} has no port ${String(port)} for TCP`;
    return { reason: 'BackendNotFound', message };
  }
  return undefined;
}
