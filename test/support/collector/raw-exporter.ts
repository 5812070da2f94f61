import { promisify } from 'node:util';

import { Client, credentials, type ServiceError } from '@grpc/grpc-js';

import type { Collector } from './collector.ts';
import { TRACE_EXPORT_CALL, traceRequestType, traceResponseType } from './otlp-definitions.ts';
import type { ReceivedProtocol } from './receive-export.ts';

/** What a collector answered: HTTP status or gRPC code, and the response if there was one. */
export interface RawAnswer {
  readonly status: number;
  readonly response?: unknown;
}

/** An exporter that sends what a test gives, wrong or not. Use it to test the collector itself. */
export async function sendExport(
  collector: Collector,
  protocol: ReceivedProtocol,
  body: Uint8Array,
): Promise<RawAnswer> {
  if (protocol === 'grpc') return await sendByGrpc(collector, Buffer.from(body));
  const isJson = protocol === 'http/json';
  const response = await fetch(`${collector.endpoint(protocol)}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' },
    body,
  });
  const { status } = response;
  const received = await response.bytes();
  if (status !== 200) return { status };
  return {
    status,
    response: isJson
      ? JSON.parse(Buffer.from(received).toString())
      : traceResponseType.decode(received).toJSON(),
  };
}

/** Encodes a request, given as in OTLP's JSON but with ids as bytes, by the official definitions. */
export function encodeExport(request: Record<string, unknown>): Uint8Array {
  return traceRequestType.encode(traceRequestType.fromObject(request)).finish();
}

async function sendByGrpc(collector: Collector, body: Buffer): Promise<RawAnswer> {
  const client = new Client(
    `127.0.0.1:${String(collector.grpcPort)}`,
    credentials.createInsecure(),
  );
  const call = promisify(
    (callback: (error: ServiceError | null, answer?: Buffer) => void) =>
      void client.makeUnaryRequest(
        TRACE_EXPORT_CALL,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        body,
        callback,
      ),
  );
  try {
    const answer = await call();
    return { status: 0, response: traceResponseType.decode(answer ?? Buffer.alloc(0)).toJSON() };
  } catch (error) {
    return { status: (error as ServiceError).code }; // all that the call throws
  } finally {
    client.close();
  }
}
