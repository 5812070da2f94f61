import protobuf, { type Field, type Reader, type Type } from 'protobufjs';

import type { DecodedMessage, DecodedValue } from './decoded-message.ts';
import { ViolationError } from './violation-error.ts';

/** Wire types of protobuf: how the bytes of a field are delimited. */
const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;

/** Reads each scalar type that the definitions use, with its wire type. */
const SCALARS: Readonly<
  Record<string, { readonly wire: number; readonly read: (reader: Reader) => DecodedValue }>
> = {
  bool: { wire: VARINT, read: (reader) => reader.bool() },
  bytes: { wire: DELIMITED, read: (reader) => Buffer.from(reader.bytes()) },
  double: { wire: FIXED_64, read: (reader) => reader.double() },
  fixed32: { wire: FIXED_32, read: (reader) => reader.fixed32() },
  fixed64: { wire: FIXED_64, read: (reader) => toBigint(reader.fixed64()) },
  int64: { wire: VARINT, read: (reader) => toBigint(reader.int64()) },
  string: { wire: DELIMITED, read: (reader) => utf8.decode(reader.bytes()) },
  uint32: { wire: VARINT, read: (reader) => reader.uint32() },
};

/** Converts an integer of 64 bits, which protobufjs gives in two halves. */
function toBigint({ low, high, unsigned }: protobuf.Long): bigint {
  const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  return unsigned ? bits : BigInt.asIntN(64, bits);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a message in protobuf's binary encoding. Other than usual decoders it refuses unknown fields,
 * wrong wire types, and fields that are sent twice: an exporter that does such a thing is wrong.
 */
export function decodeProtobuf(type: Type, bytes: Uint8Array): DecodedMessage {
  const reader = protobuf.Reader.create(bytes);
  try {
    return readMessage(type, reader, bytes.length, type.name);
  } catch (error) {
    if (error instanceof ViolationError) throw error;
    throw new ViolationError(type.name, `not protobuf: ${String(error)}`);
  }
}

function readMessage(type: Type, reader: Reader, end: number, path: string): DecodedMessage {
  const message: Record<string, DecodedValue> = {};
  const sent = new Set<string>();
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = type.fieldsById[tag >>> 3];
    if (field === undefined) throw new ViolationError(path, `unknown field ${String(tag >>> 3)}`);
    const at = `${path}.${field.name}`;
    const value = readField(field, reader, tag & 7, at);
    if (field.repeated) {
      const list = (message[field.name] ??= []) as DecodedValue[]; // only this line sets it
      list.push(value);
      continue;
    }
    // Of the fields of a `oneof` only one may be there.
    const once = field.partOf?.name ?? field.name;
    if (sent.has(once)) throw new ViolationError(at, 'sent twice');
    sent.add(once);
    message[field.name] = value;
  }
  if (reader.pos !== end) throw new ViolationError(path, 'longer than its length');
  return message;
}

function readField(field: Field, reader: Reader, wire: number, at: string): DecodedValue {
  const target = field.resolvedType;
  if (target instanceof protobuf.Type) {
    expectWire(DELIMITED, wire, at);
    const length = reader.uint32();
    return readMessage(target, reader, reader.pos + length, at);
  }
  if (target instanceof protobuf.Enum) {
    expectWire(VARINT, wire, at);
    const value = reader.int32();
    if (target.valuesById[value] === undefined) {
      throw new ViolationError(at, `${target.name} has no value ${String(value)}`);
    }
    return value;
  }
  const scalar = SCALARS[field.type];
  if (scalar === undefined) throw new Error(`${at}: no reader for ${field.type}`);
  expectWire(scalar.wire, wire, at);
  return scalar.read(reader);
}

function expectWire(expected: number, wire: number, at: string): void {
  if (wire !== expected) {
    throw new ViolationError(at, `wire type ${String(wire)} instead of ${String(expected)}`);
  }
}
