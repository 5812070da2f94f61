import type { EndpointSlice, ReferenceGrant, Service } from '../../kubernetes/objects.ts';

/** Changes to what routes refer to, by `namespace/name`; undefined stands for gone. */
export interface DirectoryChanges {
  readonly services?: ReadonlyMap<string, Service | undefined>;
  readonly endpointSlices?: ReadonlyMap<string, EndpointSlice | undefined>;
  readonly referenceGrants?: ReadonlyMap<string, ReferenceGrant | undefined>;
}

/** What a change may have changed for routes. */
export interface DirectoryEffect {
  /** Services that are there now, are gone, or have other ports. */
  readonly services: ReadonlySet<string>;
  /** Services that have other endpoints. */
  readonly endpoints: ReadonlySet<string>;
  /** Namespaces that permit other references to what they hold. */
  readonly permissions: ReadonlySet<string>;
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];
type Grant = NonNullable<ReferenceGrant['spec']>;

const SERVICE_LABEL = 'kubernetes.io/service-name';

/** Services of a cluster, where they lead, and who may refer to them. */
export class ServiceDirectory {
  readonly #services = new Map<string, Service>();
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #slicesOfService = new Map<string, Map<string, EndpointSlice>>();
  readonly #grants = new Map<string, Map<string, Grant>>();

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

  /** Ready endpoints of a port of a Service, as `host:port`; sorted, none twice. */
  endpoints(service: string, port: number): readonly string[] {
    const { spec } = this.#services.get(service) ?? {};
    if (spec?.type === 'ExternalName') {
      const host = spec.externalName?.replace(/\.$/, '') ?? '';
      return host === '' ? [] : [`${host}:${String(port)}`];
    }
    const servicePort = tcpPort(spec?.ports, port);
    if (servicePort === undefined) return [];
    const slices = [...(this.#slicesOfService.get(service)?.values() ?? [])];
    const endpoints = slices.flatMap((slice) => endpointsOf(slice, servicePort.name ?? ''));
    return [...new Set(endpoints)].sort();
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

  /** Answers with the Services it was and is a slice of. */
  #putSlice(key: string, slice: EndpointSlice | undefined): readonly string[] {
    const services = [serviceOf(key, this.#slices.get(key)), serviceOf(key, slice)];
    put(this.#slices, key, slice);
    const [before, now] = services;
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
function endpointsOf(slice: EndpointSlice, portName: string): readonly string[] {
  const { addressType, endpoints, ports } = slice;
  // Names (addressType FQDN) are for other consumers than those of Services.
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const port = ports?.find((one) => (one.name ?? '') === portName && isTcp(one))?.port;
  if (port === undefined) return [];
  const ready = endpoints?.filter(({ conditions }) => conditions?.ready !== false) ?? [];
  // The addresses of an endpoint are one and the same: the first stands for all.
  return ready.flatMap(({ addresses: [address] }) => {
    if (address === undefined) return [];
    return [`${addressType === 'IPv6' ? `[${address}]` : address}:${String(port)}`];
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
