import protobuf, { type Field, type Type } from 'protobufjs';

import type { DecodedMessage, DecodedValue } from './decoded-message.ts';
import { ViolationError } from './violation-error.ts';

/** OTLP writes these bytes in hexadecimal, where protobuf's JSON has base64. */
const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

const UINT_32_MAX = 0xff_ff_ff_ff;

/** Reads each scalar type that the definitions use; undefined if the value is not of that type. */
const SCALARS: Readonly<Record<string, (value: unknown) => DecodedValue | undefined>> = {
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  bytes: (value) => readText(value, /^(?:[\w+/-]{4})*(?:[\w+/-]{2,3}=*)?$/, 'base64'),
  double: (value) => (typeof value === 'number' ? value : undefined),
  fixed32: readUint32,
  fixed64: (value) => readBigint(value, 0n, 2n ** 64n),
  int64: (value) => readBigint(value, -(2n ** 63n), 2n ** 63n),
  string: (value) => (typeof value === 'string' && value.isWellFormed() ? value : undefined),
  uint32: readUint32,
};

/**
 * Decodes a message in OTLP's JSON encoding (OTLP specification, JSON Protobuf Encoding): names in
 * lowerCamelCase and no others, ids in hexadecimal, enums as numbers, integers of 64 bits as text or number.
 */
export function decodeJson(type: Type, bytes: Uint8Array): DecodedMessage {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ViolationError(type.name, `not JSON: ${String(error)}`);
  }
  return readMessage(type, value, type.name);
}

function readMessage(type: Type, value: unknown, path: string): DecodedMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ViolationError(path, 'not an object');
  }
  const message: Record<string, DecodedValue> = {};
  const sent = new Set<string>();
  for (const [name, given] of Object.entries(value)) {
    const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
    if (field === undefined) throw new ViolationError(path, `unknown field "${name}"`);
    const at = `${path}.${name}`;
    const once = field.partOf?.name ?? name;
    if (sent.has(once)) throw new ViolationError(at, 'sent twice');
    sent.add(once);
    message[name] = field.repeated ? readList(field, given, at) : readField(field, given, at);
  }
  return message;
}

function readList(field: Field, value: unknown, at: string): DecodedValue[] {
  if (!Array.isArray(value)) throw new ViolationError(at, 'not a list');
  return value.map((each, index) => readField(field, each, `${at}[${String(index)}]`));
}

function readField(field: Field, value: unknown, at: string): DecodedValue {
  const target = field.resolvedType;
  if (target instanceof protobuf.Type) return readMessage(target, value, at);
  if (target instanceof protobuf.Enum) {
    if (typeof value === 'number' && target.valuesById[value] !== undefined) return value;
    throw new ViolationError(at, `not the number of a ${target.name}`);
  }
  const read = IDS.has(field.name) ? readId : SCALARS[field.type];
  if (read === undefined) throw new Error(`${at}: no reader for ${field.type}`);
  const scalar = read(value);
  if (scalar === undefined) throw new ViolationError(at, `not of type ${field.type}`);
  return scalar;
}

function readId(value: unknown): Buffer | undefined {
  return readText(value, /^(?:[0-9a-f]{2})*$/i, 'hex');
}

function readText(value: unknown, form: RegExp, encoding: 'base64' | 'hex'): Buffer | undefined {
  return typeof value === 'string' && form.test(value) ? Buffer.from(value, encoding) : undefined;
}

function readUint32(value: unknown): number | undefined {
  const isUint32 = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= UINT_32_MAX;
  return isUint32 ? Number(value) : undefined;
}

/** Reads an integer of 64 bits; a number above 2^53 would have lost digits. */
function readBigint(value: unknown, least: bigint, above: bigint): bigint | undefined {
  const isInteger = typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isSafeInteger(value);
  if (!isInteger) return undefined;
  const integer = BigInt(value as string | number); // just tested
  return integer >= least && integer < above ? integer : undefined;
}
