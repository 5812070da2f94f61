import type { EndpointSlice, ReferenceGrant, Service } from '../../kubernetes/objects.ts';
import { EndpointSlices } from './endpoint-slices.ts';
import { setOrDelete } from '../grouped-map.ts';
import { ReferenceGrants, type ForeignTarget } from './reference-grants.ts';
import { MAX_TARGETS_PER_PORT, MAX_TARGETS_PER_SERVICE } from './target-limits.ts';

/** Changes to the objects that routes refer to, by `namespace/name`; undefined: deleted. */
export interface DirectoryChanges {
  readonly services?: ReadonlyMap<string, Service | undefined>;
  readonly endpointSlices?: ReadonlyMap<string, EndpointSlice | undefined>;
  readonly referenceGrants?: ReadonlyMap<string, ReferenceGrant | undefined>;
}

/** Everything that a change may affect. */
export interface DirectoryEffect {
  /** Services that were added, removed or changed, or that became too large or small enough. */
  readonly services: ReadonlySet<string>;
  /** Services with changed targets. */
  readonly targets: ReadonlySet<string>;
  /** Namespaces with changed ReferenceGrants. */
  readonly permissions: ReadonlySet<string>;
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];

/** The Services of a cluster, their targets, and the namespaces that may refer to them. */
export class ServiceDirectory {
  readonly #services = new Map<string, Service>();
  readonly #slices = new EndpointSlices();
  readonly #grants = new ReferenceGrants();
  /** Services with more targets than proxies get. */
  readonly #oversized = new Set<string>();

  /** Applies changes. Returns what they may affect. */
  apply({ services, endpointSlices, referenceGrants }: DirectoryChanges): DirectoryEffect {
    const effect = {
      services: new Set<string>(),
      targets: new Set<string>(),
      permissions: new Set<string>(),
    };
    for (const [key, service] of services ?? []) {
      setOrDelete(this.#services, key, service);
      effect.services.add(key);
    }
    for (const [key, slice] of endpointSlices ?? []) {
      for (const service of this.#slices.set(key, slice)) effect.targets.add(service);
    }
    for (const [key, grant] of referenceGrants ?? []) {
      effect.permissions.add(this.#grants.set(key, grant));
    }
    for (const service of new Set([...effect.services, ...effect.targets])) {
      if (this.#measure(service)) effect.services.add(service);
    }
    return effect;
  }

  /** Whether a Service of that name exists. */
  has(service: string): boolean {
    return this.#services.has(service);
  }

  /** Whether a Service of that name exists and has that port. */
  hasPort(service: string, port: number): boolean {
    const { spec } = this.#services.get(service) ?? {};
    // The port of an ExternalName belongs to the named machine, so the Service need not list it.
    return spec?.type === 'ExternalName' || tcpPort(spec?.ports, port) !== undefined;
  }

  /** Whether a Service has more targets than proxies get. */
  isOversized(service: string): boolean {
    return this.#oversized.has(service);
  }

  /** Whether routes of a namespace may refer to an object of another namespace. */
  permits(from: string, target: ForeignTarget): boolean {
    return this.#grants.permits(from, target);
  }

  /**
   * Returns the ready targets of a port of a Service, as `host:port`, sorted and unique, up to one more
   * than proxies get.
   */
  targets(service: string, port: number): readonly string[] {
    const { spec } = this.#services.get(service) ?? {};
    if (spec?.type === 'ExternalName') {
      const host = spec.externalName?.replace(/\.$/, '') ?? '';
      return host === '' ? [] : [`${host}:${String(port)}`];
    }
    const servicePort = tcpPort(spec?.ports, port);
    if (servicePort === undefined) return [];
    const targets = new Set<string>();
    const portOf = portsByName(servicePort.name ?? '');
    for (const { host, slice } of this.#slices.addressesOf(service)) {
      if (targets.size > MAX_TARGETS_PER_PORT) break;
      const slicePort = portOf(slice);
      if (slicePort !== undefined) targets.add(`${host}:${String(slicePort)}`);
    }
    return [...targets].sort();
  }

  /** Re-measures a Service. Returns whether the result changed. */
  #measure(service: string): boolean {
    const before = this.#oversized.has(service);
    const isOversized = this.#hasTooManyTargets(service);
    if (isOversized) this.#oversized.add(service);
    else this.#oversized.delete(service);
    return isOversized !== before;
  }

  #hasTooManyTargets(service: string): boolean {
    const addresses = this.#slices.addressesOf(service);
    const ports = this.#services.get(service)?.spec?.ports?.filter(isTcp) ?? [];
    // The upper bound is checked first: most Services are small, and counting is slow.
    if (addresses.length * ports.length <= MAX_TARGETS_PER_PORT) return false;
    const counts = ports.map(({ port }) => this.targets(service, port).length);
    const sum = counts.reduce((all, count) => all + count, 0);
    return counts.some((count) => count > MAX_TARGETS_PER_PORT) || sum > MAX_TARGETS_PER_SERVICE;
  }
}

function tcpPort(ports: readonly ServicePort[] | undefined, port: number): ServicePort | undefined {
  return ports?.find((one) => one.port === port && isTcp(one));
}

/**
 * Returns a function that finds the port of pods that a slice lists under a name. The slice has the
 * resolved `targetPort` of the Service, and the same names. A single port may have an empty name.
 */
function portsByName(name: string): (slice: EndpointSlice) => number | null | undefined {
  const known = new Map<EndpointSlice, number | null | undefined>();
  return (slice) => {
    if (!known.has(slice)) {
      const port = slice.ports?.find((one) => (one.name ?? '') === name && isTcp(one))?.port;
      known.set(slice, port);
    }
    return known.get(slice);
  };
}

function isTcp({ protocol = 'TCP' }: { readonly protocol?: string }): boolean {
  return protocol === 'TCP';
}
