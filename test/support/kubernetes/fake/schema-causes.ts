import type { ErrorObject } from 'ajv';

import { memberPath, pathOfPointer } from '../../../../controller/validate/field-path.ts';
import { invalidValue, requiredValue, type Cause } from './cause.ts';

/** Causes in a `Status` for broken keywords of a schema. */
export function causeOf(error: ErrorObject): Cause {
  const field = pathOfPointer(error.instancePath);
  // ajv documents the parameters of each keyword; all are strings, numbers or lists of strings.
  const params = error.params as Readonly<Record<string, string & readonly string[]>>;
  const value: unknown = error.data;
  switch (error.keyword) {
    case 'required':
      return requiredValue(memberPath(field, params['missingProperty'] ?? ''));
    case 'type': {
      const type = jsonType(value);
      const why = `${field} in body must be of type ${String(params['type'])}: "${type}"`;
      return { ...invalidValue(field, type, why), reason: 'FieldValueTypeInvalid' };
    }
    case 'enum':
      return notSupported(field, value, params['allowedValues'] ?? []);
    case 'pattern':
      return invalidValue(
        field,
        value,
        `${field} in body should match '${params['pattern'] ?? ''}'`,
      );
    default:
      return limitCause(field, { keyword: error.keyword, limit: Number(params['limit']) }, value);
  }
}

function notSupported(field: string, value: unknown, supported: readonly string[]): Cause {
  const list = supported.map((one) => JSON.stringify(one)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

function limitCause(
  field: string,
  { keyword, limit }: { readonly keyword: string; readonly limit: number },
  value: unknown,
): Cause {
  const size = sizeOf(value);
  const most = `${String(limit)} item${limit === 1 ? '' : 's'}`;
  switch (keyword) {
    case 'maxLength': {
      const message = `Too long: may not be more than ${String(limit)} bytes`;
      return { reason: 'FieldValueTooLong', message, field };
    }
    case 'maxItems':
    case 'maxProperties': {
      const message = `Too many: ${String(size)}: must have at most ${most}`;
      return { reason: 'FieldValueTooMany', message, field };
    }
    default:
      return invalidValue(
        field,
        size,
        `${field} in body ${LIMITS[keyword] ?? keyword} ${String(limit)}`,
      );
  }
}

const LIMITS: Readonly<Record<string, string>> = {
  minItems: 'should have at least',
  minLength: 'should be at least',
  minProperties: 'should have at least',
  minimum: 'should be greater than or equal to',
  maximum: 'should be less than or equal to',
};

/** Returns the value that a limit is compared with; texts are shown themselves. */
function sizeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : value;
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
