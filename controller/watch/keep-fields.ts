import type {
  EndpointSlice,
  KubernetesObject,
  ObjectMeta,
  ReferenceGrant,
  Service,
} from '../kubernetes/objects.ts';

/** Of an EndpointSlice: the name of its Service. */
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** What routes need of a Service. */
export function keepService(object: KubernetesObject): Service {
  const { metadata, spec = {} }: Service = object;
  const { type, externalName, ports } = spec;
  return {
    metadata: place(metadata),
    spec: {
      ...(type !== undefined && { type }),
      ...(externalName !== undefined && { externalName }),
      ...(ports !== undefined && { ports: ports.map(keepServicePort) }),
    },
  };
}

/** The same of the Service in front of the proxies, with the addresses it got. */
export function keepProxyService(object: KubernetesObject): Service {
  const { status }: Service = object;
  const ingress = status?.loadBalancer?.ingress?.map(({ ip, hostname }) => ({
    ...(ip !== undefined && { ip }),
    ...(hostname !== undefined && { hostname }),
  }));
  return {
    ...keepService(object),
    ...(ingress !== undefined && { status: { loadBalancer: { ingress } } }),
  };
}

/** Addresses and ports, and whose they are. */
export function keepEndpointSlice(object: KubernetesObject): EndpointSlice {
  const { metadata, addressType, endpoints, ports }: EndpointSlice = object;
  const serviceName = metadata.labels?.[SERVICE_NAME_LABEL];
  return {
    metadata: {
      ...place(metadata),
      ...(serviceName !== undefined && { labels: { [SERVICE_NAME_LABEL]: serviceName } }),
    },
    ...(addressType !== undefined && { addressType }),
    endpoints: (endpoints ?? []).map(({ addresses, conditions }) => ({
      addresses,
      ...(conditions?.ready !== undefined && { conditions: { ready: conditions.ready } }),
    })),
    ports: (ports ?? []).map(({ name, port, protocol }) => ({
      ...(name !== undefined && { name }),
      ...(port !== undefined && { port }),
      ...(protocol !== undefined && { protocol }),
    })),
  };
}

/** What may be referred to, and from where. */
export function keepReferenceGrant(object: KubernetesObject): ReferenceGrant {
  const { metadata, spec }: ReferenceGrant = object;
  return { metadata: place(metadata), ...(spec !== undefined && { spec }) };
}

/** The values of a Secret by key. */
export function keepSecretValues(object: KubernetesObject): ReadonlyMap<string, Buffer> {
  const { data }: KubernetesObject & { data?: Readonly<Record<string, string>> | null } = object;
  const values = Object.entries(data ?? {});
  return new Map(values.map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}

/** The labels of a namespace. */
export function keepLabels({ metadata }: KubernetesObject): Readonly<Record<string, string>> {
  return metadata.labels ?? {};
}

function keepServicePort({
  name,
  port,
  protocol,
}: NonNullable<NonNullable<Service['spec']>['ports']>[number]): {
  name?: string;
  port: number;
  protocol?: string;
} {
  return {
    ...(name !== undefined && { name }),
    port,
    ...(protocol !== undefined && { protocol }),
  };
}

function place({ name, namespace }: ObjectMeta): ObjectMeta {
  return { name, ...(namespace !== undefined && { namespace }) };
}
