import type { ApiObject } from '../api-object.ts';
import { objectAt, textAt } from '../field-reading.ts';
import { isEqual, mapMembers, without } from '../json.ts';
import { invalidValue, requiredValue, type Cause } from '../cause.ts';

const MOST_BYTES = 1024 * 1024;

/** Moves `stringData`, which is never returned, to `data`. */
export function completeSecret(object: ApiObject): ApiObject {
  const encoded = mapMembers(objectAt(object, 'stringData'), (value) =>
    Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
  );
  const data = { ...objectAt(object, 'data'), ...encoded };
  const type = textAt(object, 'type');
  // `apiVersion`, `kind` and `metadata` are never left out.
  const rest = without(object, 'stringData', 'data') as ApiObject;
  return {
    ...rest,
    ...(Object.keys(data).length > 0 && { data }),
    type: type === '' ? 'Opaque' : type,
  };
}

export function validateSecret(object: ApiObject, old: ApiObject | undefined): readonly Cause[] {
  const data = objectAt(object, 'data');
  const isImmutable = old?.['immutable'] === true && !isEqual(old['data'], object['data']);
  const isOtherType = old !== undefined && old['type'] !== object['type'];
  const bytes = Object.values(data).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0),
    0,
  );
  return [
    ...dataKeyCauses(object),
    ...(object['type'] === 'kubernetes.io/tls' ? missingKeys(object) : []),
    ...(bytes > MOST_BYTES
      ? [
          {
            reason: 'FieldValueTooLong',
            message: 'Too long: must have at most 1048576 bytes',
            field: 'data',
          },
        ]
      : []),
    ...(isOtherType ? [invalidValue('type', object['type'], 'field is immutable')] : []),
    ...(isImmutable
      ? [
          {
            reason: 'FieldValueForbidden',
            message: 'Forbidden: field is immutable when `immutable` is set',
            field: 'data',
          },
        ]
      : []),
  ];
}

/** Validates the keys of the data of a Secret or ConfigMap. */
export function dataKeyCauses(object: ApiObject): readonly Cause[] {
  return Object.keys(objectAt(object, 'data'))
    .filter((key) => key.length > 253 || !/^[-._a-zA-Z0-9]+$/.test(key))
    .map((key) =>
      invalidValue(
        `data[${key}]`,
        key,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      ),
    );
}

function missingKeys(object: ApiObject): readonly Cause[] {
  const data = objectAt(object, 'data');
  return ['tls.crt', 'tls.key']
    .filter((key) => data[key] === undefined)
    .map((key) => requiredValue(`data[${key}]`));
}
