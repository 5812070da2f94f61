/**
 * A decoded protobuf message, the same for both encodings: fields by their names in lowerCamelCase, bytes
 * as buffers, integers of 64 bits as bigint, enums as numbers. A field that was not sent is absent.
 */
export interface DecodedMessage {
  readonly [field: string]: DecodedValue | undefined;
}

export type DecodedValue =
  string | number | bigint | boolean | Buffer | DecodedMessage | readonly DecodedValue[];
