import type { FieldsAt } from './fields-at.ts';
import type { ReceivedAttribute, ReceivedAttributes } from './received-span.ts';
import { ViolationError } from './violation-error.ts';

/** Reads the attributes of a span, event, link or resource: keys are there, and once; and so are values. */
export function readAttributes(fields: FieldsAt): ReceivedAttributes {
  const attributes: Record<string, ReceivedAttribute> = {};
  for (const attribute of fields.messages('attributes')) {
    const key = attribute.text('key') ?? '';
    if (key === '') throw new ViolationError(attribute.path, 'no key');
    if (Object.hasOwn(attributes, key)) {
      throw new ViolationError(attribute.path, `"${key}" twice`);
    }
    attributes[key] = readValue(attribute.message('value'));
  }
  return attributes;
}

function readValue(fields: FieldsAt): ReceivedAttribute {
  const integer = fields.bigint('intValue');
  const value =
    fields.text('stringValue') ??
    fields.boolean('boolValue') ??
    fields.number('doubleValue') ??
    (integer === undefined ? undefined : Number(integer));
  if (value !== undefined) return value;
  if (!fields.has('arrayValue')) throw new ViolationError(fields.path, 'no value');
  return fields.message('arrayValue').messages('values').map(readValue);
}
