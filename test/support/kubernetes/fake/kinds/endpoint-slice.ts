import { isIP } from 'node:net';

import type { ApiObject } from '../api-object.ts';
import { listAt, textAt } from '../field-reading.ts';
import { isObject, type Json } from '../json.ts';
import { invalidValue, requiredValue, type Cause } from '../cause.ts';

const MOST_ENDPOINTS = 1_000;
const MOST_PORTS = 100;
const IP_VERSIONS: Readonly<Record<string, number>> = { IPv4: 4, IPv6: 6 };

export function completeEndpointSlice(object: ApiObject): ApiObject {
  const ports = listAt(object, 'ports').map((port) =>
    isObject(port) ? { name: '', protocol: 'TCP', ...port } : port,
  );
  // The API server writes both lists, even if they are empty.
  return { ...object, endpoints: listAt(object, 'endpoints'), ports };
}

export function validateEndpointSlice(
  object: ApiObject,
  old: ApiObject | undefined,
): readonly Cause[] {
  const type = textAt(object, 'addressType');
  const endpoints = listAt(object, 'endpoints');
  const ports = listAt(object, 'ports');
  return [
    ...addressTypeCauses(type, old),
    ...tooMany('endpoints', endpoints, MOST_ENDPOINTS),
    ...tooMany('ports', ports, MOST_PORTS),
    ...endpoints.flatMap((endpoint, index) =>
      addressCauses(type, endpoint, `endpoints[${String(index)}].addresses`),
    ),
  ];
}

function addressTypeCauses(type: string, old: ApiObject | undefined): readonly Cause[] {
  const field = 'addressType';
  if (type === '') return [requiredValue(field)];
  if (!['IPv4', 'IPv6', 'FQDN'].includes(type)) {
    const message = `Unsupported value: "${type}": supported values: "FQDN", "IPv4", "IPv6"`;
    return [{ reason: 'FieldValueNotSupported', message, field }];
  }
  const isChanged = old !== undefined && textAt(old, field) !== type;
  return isChanged ? [invalidValue(field, type, 'field is immutable')] : [];
}

function tooMany(field: string, list: readonly Json[], most: number): readonly Cause[] {
  if (list.length <= most) return [];
  const message = `Too many: ${String(list.length)}: must have at most ${String(most)} items`;
  return [{ reason: 'FieldValueTooMany', message, field }];
}

function addressCauses(type: string, endpoint: Json, field: string): readonly Cause[] {
  const addresses = listAt(endpoint, 'addresses');
  if (addresses.length === 0) return [requiredValue(field, 'must contain at least 1 address')];
  const version = IP_VERSIONS[type];
  return addresses.flatMap((address, index) =>
    version === undefined || (typeof address === 'string' && isIP(address) === version)
      ? []
      : [invalidValue(`${field}[${String(index)}]`, address, 'must be a valid IP address')],
  );
}
