import { hashResource } from '../../../shared/snapshot/hash-resource.ts';
import { serviceKey } from '../../../shared/snapshot/resource-key.ts';
import type { CompiledBackend, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { ServiceDirectory } from './service-directory.ts';
import { TargetBudget } from './target-limits.ts';

/** The Services that routes send requests to, as snapshot resources. */
export class ServiceTable {
  readonly #directory: ServiceDirectory;
  /** The ports in use, by Service and route. */
  readonly #users = new Map<string, Map<string, readonly number[]>>();
  readonly #usedBy = new Map<string, ReadonlySet<string>>();
  readonly #changed = new Set<string>();

  constructor(directory: ServiceDirectory) {
    this.#directory = directory;
  }

  /** Sets the backends of a route; none if the route does not serve. */
  use(route: string, backends: readonly CompiledBackend[]): void {
    const portsOf = new Map<string, readonly number[]>();
    for (const { service, port } of backends) {
      if (service !== undefined) portsOf.set(service, [...(portsOf.get(service) ?? []), port]);
    }
    for (const service of this.#usedBy.get(route) ?? []) {
      if (!portsOf.has(service)) this.#setUse(service, route, undefined);
    }
    for (const [service, ports] of portsOf) this.#setUse(service, route, ports);
    if (portsOf.size === 0) this.#usedBy.delete(route);
    else this.#usedBy.set(route, new Set(portsOf.keys()));
  }

  /** Marks Services as changed. */
  invalidate(services: Iterable<string>): void {
    for (const service of services) this.#changed.add(service);
  }

  /** Compiles the Services that may have changed since the last call; undefined: in no snapshot. */
  compileChanged(): ReadonlyMap<string, SnapshotResource | undefined> {
    const compiled = [...this.#changed].map((service) => {
      const key = serviceKey(service);
      return [key, this.#compile(key, service)] as const;
    });
    this.#changed.clear();
    return new Map(compiled);
  }

  #compile(key: string, service: string): SnapshotResource | undefined {
    const users = this.#users.get(service);
    if (users === undefined) return undefined;
    const ports = [...new Set([...users.values()].flat())].sort((a, b) => a - b);
    const budget = new TargetBudget();
    return hashResource(key, {
      kind: 'service',
      name: service,
      ports: ports.map((port) => ({
        port,
        targets: budget.allot(this.#directory.targets(service, port)),
      })),
    });
  }

  #setUse(service: string, route: string, ports: readonly number[] | undefined): void {
    const users = this.#users.get(service) ?? new Map<string, readonly number[]>();
    if (sameNumbers(users.get(route), ports)) return;
    if (ports === undefined) users.delete(route);
    else users.set(route, ports);
    if (users.size === 0) this.#users.delete(service);
    else this.#users.set(service, users);
    this.#changed.add(service);
  }
}

function sameNumbers(
  one: readonly number[] | undefined,
  other: readonly number[] | undefined,
): boolean {
  return String(one) === String(other);
}
