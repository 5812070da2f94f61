import type { DecodedMessage } from './decoded-message.ts';
import { decodeJson } from './decode-json.ts';
import { decodeProtobuf } from './decode-protobuf.ts';
import { traceRequestType } from './otlp-definitions.ts';

export type ReceivedProtocol = 'grpc' | 'http/protobuf' | 'http/json';

/** A request of an exporter, before it is decoded. */
export interface RawExport {
  readonly protocol: ReceivedProtocol;
  /** Header fields or gRPC metadata by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Decodes the body of an export. Throws a `ViolationError` for what the definitions do not allow. */
export function decodeExport({ protocol, body }: RawExport): DecodedMessage {
  return protocol === 'http/json'
    ? decodeJson(traceRequestType, body)
    : decodeProtobuf(traceRequestType, body);
}
