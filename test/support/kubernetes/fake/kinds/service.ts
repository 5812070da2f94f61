import type { ApiObject } from '../api-object.ts';
import { listAt, objectAt, textAt } from '../field-reading.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { invalidValue, requiredValue, type Cause } from '../cause.ts';

const TYPES: readonly string[] = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

let lastAddress = 0;

/** Sets types, protocols and target ports, and an address of the cluster. */
export function completeService(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const spec = { ...givenAddress(old), ...objectAt(object, 'spec') };
  const type = textAt(spec, 'type') === '' ? 'ClusterIP' : textAt(spec, 'type');
  const clusterIp = textAt(spec, 'clusterIP');
  const address = clusterIp === '' && type !== 'ExternalName' ? nextAddress() : clusterIp;
  return {
    ...object,
    spec: {
      sessionAffinity: 'None',
      ...spec,
      type,
      ...(spec['ports'] !== undefined && { ports: listAt(spec, 'ports').map(completePort) }),
      ...(address !== '' && { clusterIP: address, clusterIPs: [address] }),
    },
    status: { loadBalancer: {}, ...objectAt(object, 'status') },
  };
}

/** A service keeps its address if a client leaves it out. */
function givenAddress(old: ApiObject | undefined): JsonObject {
  const { clusterIP, clusterIPs } = objectAt(old, 'spec');
  return clusterIP === undefined ? {} : { clusterIP, clusterIPs };
}

function completePort(port: Json): Json {
  return isObject(port) ? { protocol: 'TCP', targetPort: port['port'], ...port } : port;
}

function nextAddress(): string {
  lastAddress += 1;
  return `10.96.${String(Math.floor(lastAddress / 250) % 250)}.${String((lastAddress % 250) + 1)}`;
}

export function validateService(object: ApiObject): readonly Cause[] {
  const spec = objectAt(object, 'spec');
  const type = textAt(spec, 'type');
  const ports = listAt(spec, 'ports');
  const needsPorts = type !== 'ExternalName' && spec['clusterIP'] !== 'None';
  return [
    ...(TYPES.includes(type) ? [] : [invalidValue('spec.type', type, 'must be a known type')]),
    ...(type === 'ExternalName' && textAt(spec, 'externalName') === ''
      ? [requiredValue('spec.externalName')]
      : []),
    ...(needsPorts && ports.length === 0 ? [requiredValue('spec.ports')] : []),
    ...ports.flatMap((port, index) =>
      isObject(port) ? portCauses(port, { index, isOnly: ports.length === 1 }) : [],
    ),
    ...duplicateNames(ports),
  ];
}

function portCauses(
  port: JsonObject,
  { index, isOnly }: { readonly index: number; readonly isOnly: boolean },
): readonly Cause[] {
  const field = `spec.ports[${String(index)}]`;
  const { port: number, name = '' } = port;
  const isPort = typeof number === 'number' && number >= 1 && number <= 65_535;
  return [
    ...(isPort ? [] : [invalidValue(`${field}.port`, number ?? 0, 'must be between 1 and 65535')]),
    ...(name === '' && !isOnly ? [requiredValue(`${field}.name`)] : []),
  ];
}

function duplicateNames(ports: readonly Json[]): readonly Cause[] {
  const names = ports.map((port) => textAt(port, 'name')).filter((name) => name !== '');
  return names
    .filter((name, index) => names.indexOf(name) < index)
    .map((name) => ({
      reason: 'FieldValueDuplicate',
      message: `Duplicate value: "${name}"`,
      field: 'spec.ports',
    }));
}
