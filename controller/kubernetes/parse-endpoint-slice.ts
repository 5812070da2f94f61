import { isRecord } from '../../shared/runtime/is-record.ts';
import { objectName, type EndpointSlice, type KubernetesObject } from './objects.ts';

type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number];
type Port = NonNullable<EndpointSlice['ports']>[number];
type Members = Readonly<Record<string, unknown>>;

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** Parses an object of type EndpointSlice: its addresses and ports, and the name of its Service. */
export function parseEndpointSlice(object: KubernetesObject): EndpointSlice {
  const { metadata, addressType, endpoints, ports } = object;
  const serviceName = metadata.labels?.[SERVICE_NAME_LABEL];
  return {
    metadata: {
      ...objectName(metadata),
      ...(serviceName !== undefined && { labels: { [SERVICE_NAME_LABEL]: serviceName } }),
    },
    ...(typeof addressType === 'string' && { addressType }),
    endpoints: Array.isArray(endpoints) ? endpoints.filter(isRecord).map(parseSliceEndpoint) : [],
    ports: Array.isArray(ports) ? ports.filter(isRecord).map(parsePort) : [],
  };
}

function parseSliceEndpoint({ addresses, conditions }: Members): SliceEndpoint {
  const ready = isRecord(conditions) ? conditions['ready'] : undefined;
  return {
    addresses: Array.isArray(addresses) ? addresses.filter(isText) : [],
    ...(typeof ready === 'boolean' && { conditions: { ready } }),
  };
}

function parsePort({ name, port, protocol }: Members): Port {
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof port === 'number' && { port }),
    ...(typeof protocol === 'string' && { protocol }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
