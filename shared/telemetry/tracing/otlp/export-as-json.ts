/** What a field becomes in JSON (OTLP, JSON Protobuf Encoding): ids are hexadecimal, and long numbers texts. */
type Scalar = 'text' | 'hex' | 'int' | 'int64' | 'bool' | 'double' | 'fixed32' | 'fixed64';

interface Field {
  readonly name: string;
  readonly type: Scalar | MessageType;
  readonly isRepeated?: boolean;
}

/** The fields of a message, by number. */
type MessageType = ReadonlyMap<number, Field>;

const ANY_VALUE = new Map<number, Field>([
  [1, { name: 'stringValue', type: 'text' }],
  [2, { name: 'boolValue', type: 'bool' }],
  [3, { name: 'intValue', type: 'int64' }],
  [4, { name: 'doubleValue', type: 'double' }],
]);
const ARRAY_VALUE = new Map<number, Field>([[1, many('values', ANY_VALUE)]]);
ANY_VALUE.set(5, { name: 'arrayValue', type: ARRAY_VALUE });

const KEY_VALUE: MessageType = new Map<number, Field>([
  [1, { name: 'key', type: 'text' }],
  [2, { name: 'value', type: ANY_VALUE }],
]);

const EVENT: MessageType = new Map<number, Field>([
  [1, { name: 'timeUnixNano', type: 'fixed64' }],
  [2, { name: 'name', type: 'text' }],
  [3, many('attributes', KEY_VALUE)],
]);

const LINK: MessageType = new Map<number, Field>([
  [1, { name: 'traceId', type: 'hex' }],
  [2, { name: 'spanId', type: 'hex' }],
  [3, { name: 'traceState', type: 'text' }],
  [6, { name: 'flags', type: 'fixed32' }],
]);

const STATUS: MessageType = new Map<number, Field>([
  [2, { name: 'message', type: 'text' }],
  [3, { name: 'code', type: 'int' }],
]);

const SPAN: MessageType = new Map<number, Field>([
  [1, { name: 'traceId', type: 'hex' }],
  [2, { name: 'spanId', type: 'hex' }],
  [3, { name: 'traceState', type: 'text' }],
  [4, { name: 'parentSpanId', type: 'hex' }],
  [5, { name: 'name', type: 'text' }],
  [6, { name: 'kind', type: 'int' }],
  [7, { name: 'startTimeUnixNano', type: 'fixed64' }],
  [8, { name: 'endTimeUnixNano', type: 'fixed64' }],
  [9, many('attributes', KEY_VALUE)],
  [10, { name: 'droppedAttributesCount', type: 'int' }],
  [11, many('events', EVENT)],
  [12, { name: 'droppedEventsCount', type: 'int' }],
  [13, many('links', LINK)],
  [14, { name: 'droppedLinksCount', type: 'int' }],
  [15, { name: 'status', type: STATUS }],
  [16, { name: 'flags', type: 'fixed32' }],
]);

const SCOPE: MessageType = new Map<number, Field>([[1, { name: 'name', type: 'text' }]]);
const SCOPE_SPANS: MessageType = new Map<number, Field>([
  [1, { name: 'scope', type: SCOPE }],
  [2, many('spans', SPAN)],
]);
const RESOURCE: MessageType = new Map<number, Field>([[1, many('attributes', KEY_VALUE)]]);
const RESOURCE_SPANS: MessageType = new Map<number, Field>([
  [1, { name: 'resource', type: RESOURCE }],
  [2, many('scopeSpans', SCOPE_SPANS)],
]);
const REQUEST: MessageType = new Map<number, Field>([[1, many('resourceSpans', RESOURCE_SPANS)]]);

function many(name: string, type: MessageType): Field {
  return { name, type, isRepeated: true };
}

/**
 * Returns an `ExportTraceServiceRequest` of ours as JSON.
 *
 * Spans wait as protobuf for whatever protocol is in force when they are exported, so JSON is made of that.
 */
export function exportAsJson(request: Buffer): string {
  return JSON.stringify(new MessageReader(request).message(REQUEST, request.length));
}

const WIRE_BITS = 3;
const LOW_BITS = 0x7f;
const CONTINUES = 0x80;

/** Reads what `ProtobufWriter` wrote: every field is known. */
class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  message(type: MessageType, end: number): Record<string, unknown> {
    const read: Record<string, unknown> = {};
    while (this.#at < end) {
      const number = this.#varint() >>> WIRE_BITS;
      const field = type.get(number);
      if (field === undefined) throw new TypeError(`unknown field ${String(number)}`);
      const value = this.#value(field.type);
      const known = read[field.name];
      if (field.isRepeated !== true) read[field.name] = value;
      else if (Array.isArray(known)) known.push(value);
      else read[field.name] = [value];
    }
    return read;
  }

  #value(type: Scalar | MessageType): unknown {
    switch (type) {
      case 'text':
        return this.#take(this.#varint()).toString();
      case 'hex':
        return this.#take(this.#varint()).toString('hex');
      case 'int':
        return this.#varint();
      case 'int64':
        return String(BigInt.asIntN(64, this.#bigVarint()));
      case 'bool':
        return this.#varint() === 1;
      case 'double':
        return jsonNumber(this.#take(8).readDoubleLE());
      case 'fixed32':
        return this.#take(4).readUInt32LE();
      case 'fixed64':
        return String(this.#take(8).readBigUInt64LE());
      default: {
        const size = this.#varint();
        return this.message(type, this.#at + size);
      }
    }
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      value |= (byte & LOW_BITS) << shift;
      if (byte < CONTINUES) return value;
    }
  }

  #bigVarint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      value |= BigInt(byte & LOW_BITS) << shift;
      if (byte < CONTINUES) return value;
    }
  }

  #take(size: number): Buffer {
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}

/** JSON has no such numbers; protobuf's JSON mapping writes them as texts. */
function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
