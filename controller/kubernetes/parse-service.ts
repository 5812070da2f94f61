import { isRecord } from '../../shared/runtime/is-record.ts';
import { objectName, type KubernetesObject, type Service } from './objects.ts';

type ServiceSpec = NonNullable<Service['spec']>;
type ServicePort = NonNullable<ServiceSpec['ports']>[number];
type Ingress = NonNullable<
  NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress']
>[number];

/** Parses an object of type Service, as far as routes need it. */
export function parseService({ metadata, spec }: KubernetesObject): Service {
  return { metadata: objectName(metadata), spec: parseSpec(isRecord(spec) ? spec : {}) };
}

/** Parses an object of type Service, with the addresses of its load balancer. */
export function parseProxyService(object: KubernetesObject): Service {
  const { status } = object;
  const loadBalancer = isRecord(status) ? status['loadBalancer'] : undefined;
  const ingress = isRecord(loadBalancer) ? loadBalancer['ingress'] : undefined;
  return {
    ...parseService(object),
    ...(Array.isArray(ingress) && {
      status: { loadBalancer: { ingress: ingress.filter(isRecord).map(parseIngress) } },
    }),
  };
}

function parseSpec({ type, externalName, ports }: Readonly<Record<string, unknown>>): ServiceSpec {
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof externalName === 'string' && { externalName }),
    ...(Array.isArray(ports) && { ports: ports.filter(isRecord).flatMap(parsePort) }),
  };
}

function parsePort({
  name,
  port,
  protocol,
}: Readonly<Record<string, unknown>>): readonly ServicePort[] {
  if (typeof port !== 'number') return [];
  return [
    {
      ...(typeof name === 'string' && { name }),
      port,
      ...(typeof protocol === 'string' && { protocol }),
    },
  ];
}

function parseIngress({ ip, hostname }: Readonly<Record<string, unknown>>): Ingress {
  return {
    ...(typeof ip === 'string' && { ip }),
    ...(typeof hostname === 'string' && { hostname }),
  };
}
