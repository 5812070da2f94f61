import { isList, isObject, mapMembers, type Json } from './json.ts';
import { memberSchema, type Schema } from './schema.ts';
import { badRequest } from './status-error.ts';
import { microTime, secondsTime } from './times.ts';

/** The result of reading a value. */
export interface Decoded<Value> {
  readonly value: Value;
  /** Paths of the fields that were dropped because the schema does not know them. */
  readonly unknownFields: readonly string[];
}

/** Drops unknown fields, and null, which means absent. */
export function prune<Value extends Json>(schema: Schema, value: Value): Decoded<Value> {
  return new Decoder(false).decode(schema, value);
}

/**
 * Reads a value of a type of the API server itself: drops unknown fields, refuses values of the wrong
 * type, and writes times as the API server does.
 */
export function decodeTyped<Value extends Json>(schema: Schema, value: Value): Decoded<Value> {
  return new Decoder(true).decode(schema, value);
}

class Decoder {
  readonly #typed: boolean;
  readonly #unknownFields: string[] = [];

  constructor(typed: boolean) {
    this.#typed = typed;
  }

  decode<Value extends Json>(schema: Schema, value: Value): Decoded<Value> {
    // Reading drops members, and never changes the kind of value.
    const read = this.#read(schema, value, '') as Value;
    return { value: read, unknownFields: this.#unknownFields };
  }

  #read(schema: Schema, value: Json, path: string): Json | undefined {
    if (schema.type === undefined) return value;
    if (value === null) return undefined;
    if (isObject(value) && schema.type === 'object') {
      return mapMembers(value, (member, name) => {
        const memberPath = path === '' ? name : `${path}.${name}`;
        const known = memberSchema(schema, name);
        if (known !== undefined) return this.#read(known, member, memberPath);
        if (schema['x-kubernetes-preserve-unknown-fields'] === true) return member;
        this.#unknownFields.push(memberPath);
        return undefined;
      });
    }
    if (isList(value) && schema.type === 'array') {
      return value.map(
        (item, index) => this.#read(schema.items ?? {}, item, `${path}[${String(index)}]`) ?? null,
      );
    }
    return this.#typed ? typedScalar(schema, value, path) : value;
  }
}

function typedScalar(schema: Schema, value: Json, path: string): Json {
  if (!isOfType(schema.type, value)) {
    throw badRequest(
      `json: cannot unmarshal ${kindOf(value)} into field ${path} of type ${String(schema.type)}`,
    );
  }
  if (typeof value !== 'string') return value;
  switch (schema.format) {
    case 'date-time':
      return secondsTime(value, path);
    case 'date-time-micro':
      return microTime(value, path);
    case 'byte':
      return base64(value, path);
    case undefined:
    default:
      return value;
  }
}

function isOfType(type: Schema['type'], value: Json): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

function kindOf(value: Json): string {
  if (isList(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** RFC 4648, section 4, with padding and without line breaks. The value stays out of the message. */
function base64(text: string, path: string): string {
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (!isBase64) throw badRequest(`${path}: decode base64: illegal base64 data`);
  return text;
}
