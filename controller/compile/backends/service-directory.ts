import type { EndpointSlice, ReferenceGrant, Service } from '../../kubernetes/objects.ts';
import { compareText } from '../compare-text.ts';
import { MAX_ENDPOINTS_PER_PORT, MAX_ENDPOINTS_PER_SERVICE } from './endpoint-limits.ts';

/** Changes to what routes refer to, by `namespace/name`; undefined stands for gone. */
export interface DirectoryChanges {
  readonly services?: ReadonlyMap<string, Service | undefined>;
  readonly endpointSlices?: ReadonlyMap<string, EndpointSlice | undefined>;
  readonly referenceGrants?: ReadonlyMap<string, ReferenceGrant | undefined>;
}

/** What a change may have changed for routes. */
export interface DirectoryEffect {
  /** Services that are there now, are gone, have other ports, or are oversized or no more. */
  readonly services: ReadonlySet<string>;
  /** Services that have other endpoints. */
  readonly endpoints: ReadonlySet<string>;
  /** Namespaces that permit other references to what they hold. */
  readonly permissions: ReadonlySet<string>;
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];
type Grant = NonNullable<ReferenceGrant['spec']>;

/** Slices of a Service beyond so many addresses are not looked at. */
const MAX_ADDRESSES_PER_SERVICE = 2 * MAX_ENDPOINTS_PER_SERVICE;
const SERVICE_LABEL = 'kubernetes.io/service-name';

/** Services of a cluster, where they lead, and who may refer to them. */
export class ServiceDirectory {
  readonly #services = new Map<string, Service>();
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #slicesOfService = new Map<string, Map<string, EndpointSlice>>();
  readonly #grants = new Map<string, Map<string, Grant>>();
  /** By Service, while its slices are what they are. */
  readonly #addresses = new Map<string, readonly Address[]>();
  /** Services with more endpoints than proxies are told. */
  readonly #oversized = new Set<string>();

  apply({ services, endpointSlices, referenceGrants }: DirectoryChanges): DirectoryEffect {
    const effect = {
      services: new Set<string>(),
      endpoints: new Set<string>(),
      permissions: new Set<string>(),
    };
    for (const [key, service] of services ?? []) {
      put(this.#services, key, service);
      effect.services.add(key);
    }
    for (const [key, slice] of endpointSlices ?? []) {
      for (const service of this.#putSlice(key, slice)) effect.endpoints.add(service);
    }
    for (const [key, grant] of referenceGrants ?? []) {
      effect.permissions.add(this.#putGrant(key, grant));
    }
    for (const service of new Set([...effect.services, ...effect.endpoints])) {
      if (this.#measure(service)) effect.services.add(service);
    }
    return effect;
  }

  /** Whether there is a Service of that name with that port. */
  hasPort(service: string, port: number): boolean {
    const { spec } = this.#services.get(service) ?? {};
    // The port of an ExternalName is that of the machine it names: the Service need not list it.
    return spec?.type === 'ExternalName' || tcpPort(spec?.ports, port) !== undefined;
  }

  has(service: string): boolean {
    return this.#services.has(service);
  }

  /** Whether a Service has more endpoints than proxies are told. */
  isOversized(service: string): boolean {
    return this.#oversized.has(service);
  }

  /**
   * Ready endpoints of a port of a Service, as `host:port`; sorted, none twice. Of more than proxies
   * are told, one more than those.
   */
  endpoints(service: string, port: number): readonly string[] {
    const { spec } = this.#services.get(service) ?? {};
    if (spec?.type === 'ExternalName') {
      const host = spec.externalName?.replace(/\.$/, '') ?? '';
      return host === '' ? [] : [`${host}:${String(port)}`];
    }
    const servicePort = tcpPort(spec?.ports, port);
    if (servicePort === undefined) return [];
    const endpoints = new Set<string>();
    const portOf = portsByName(servicePort.name ?? '');
    for (const { host, slice } of this.#addressesOf(service)) {
      if (endpoints.size > MAX_ENDPOINTS_PER_PORT) break;
      const slicePort = portOf(slice);
      if (slicePort !== undefined) endpoints.add(`${host}:${String(slicePort)}`);
    }
    return [...endpoints].sort();
  }

  /** Whether routes of a namespace may refer to a Service of another one. */
  permits(
    from: string,
    { namespace, name }: { readonly namespace: string; readonly name: string },
  ): boolean {
    const grants = [...(this.#grants.get(namespace)?.values() ?? [])];
    return grants.some(
      (grant) =>
        grant.from?.some(
          (one) => one.group === 'gatehouse.dev' && one.kind === 'Route' && one.namespace === from,
        ) === true &&
        grant.to?.some(
          (one) =>
            one.group === '' &&
            one.kind === 'Service' &&
            (one.name === undefined || one.name === name),
        ) === true,
    );
  }

  /** Finds out whether a Service is oversized. Answers whether that is another answer. */
  #measure(service: string): boolean {
    const before = this.#oversized.has(service);
    const isOversized = this.#countsTooMany(service);
    if (isOversized) this.#oversized.add(service);
    else this.#oversized.delete(service);
    return isOversized !== before;
  }

  #countsTooMany(service: string): boolean {
    const addresses = this.#addressesOf(service);
    const ports = this.#services.get(service)?.spec?.ports?.filter(isTcp) ?? [];
    // Most are far from it.
    const isFar = addresses.length * ports.length <= MAX_ENDPOINTS_PER_PORT;
    if (isFar) return false;
    const counts = ports.map(({ port }) => this.endpoints(service, port).length);
    const sum = counts.reduce((all, count) => all + count, 0);
    return (
      counts.some((count) => count > MAX_ENDPOINTS_PER_PORT) || sum > MAX_ENDPOINTS_PER_SERVICE
    );
  }

  /** Ready addresses of a Service in one order everywhere, as far as anybody looks at them. */
  #addressesOf(service: string): readonly Address[] {
    const known = this.#addresses.get(service);
    if (known !== undefined) return known;
    const slices = [...(this.#slicesOfService.get(service) ?? [])];
    const addresses: Address[] = [];
    for (const [, slice] of slices.sort(([a], [b]) => compareText(a, b))) {
      if (addresses.length >= MAX_ADDRESSES_PER_SERVICE) break;
      addresses.push(...addressesOf(slice));
    }
    addresses.sort((a, b) => compareText(a.host, b.host));
    this.#addresses.set(service, addresses);
    return addresses;
  }

  /** Answers with the Services it was and is a slice of. */
  #putSlice(key: string, slice: EndpointSlice | undefined): readonly string[] {
    const services = [serviceOf(key, this.#slices.get(key)), serviceOf(key, slice)];
    put(this.#slices, key, slice);
    const [before, now] = services;
    for (const service of services) if (service !== undefined) this.#addresses.delete(service);
    if (before !== undefined) putIn(this.#slicesOfService, before, [key, undefined]);
    if (now !== undefined) putIn(this.#slicesOfService, now, [key, slice]);
    return services.filter((service) => service !== undefined);
  }

  /** Answers with the namespace that it is about. */
  #putGrant(key: string, grant: ReferenceGrant | undefined): string {
    const [namespace = ''] = key.split('/');
    putIn(this.#grants, namespace, [key, grant && (grant.spec ?? {})]);
    return namespace;
  }
}

function serviceOf(key: string, slice: EndpointSlice | undefined): string | undefined {
  const name = slice?.metadata.labels?.[SERVICE_LABEL];
  const [namespace = ''] = key.split('/');
  return name === undefined ? undefined : `${namespace}/${name}`;
}

function tcpPort(ports: readonly ServicePort[] | undefined, port: number): ServicePort | undefined {
  return ports?.find((one) => one.port === port && isTcp(one));
}

/**
 * The ports of a slice are those of the pods: `targetPort` of the Service is resolved already. Ports
 * of slices and of their Service go by one name, which is empty for the only one.
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

/** An address of a Service, as it is written in a URL. */
interface Address {
  readonly host: string;
  readonly slice: EndpointSlice;
}

function addressesOf(slice: EndpointSlice): readonly Address[] {
  const { addressType, endpoints } = slice;
  // Names (addressType FQDN) are for other consumers than those of Services.
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const ready = endpoints?.filter(({ conditions }) => conditions?.ready !== false) ?? [];
  // The addresses of an endpoint are one and the same: the first stands for all.
  return ready.flatMap(({ addresses: [address] }) => {
    if (address === undefined) return [];
    return [{ host: addressType === 'IPv6' ? `[${address}]` : address, slice }];
  });
}

function isTcp({ protocol = 'TCP' }: { readonly protocol?: string }): boolean {
  return protocol === 'TCP';
}

function put<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

function putIn<V>(
  maps: Map<string, Map<string, V>>,
  group: string,
  [key, value]: readonly [string, V | undefined],
): void {
  const map = maps.get(group) ?? new Map<string, V>();
  put(map, key, value);
  put(maps, group, map.size === 0 ? undefined : map);
}
