import { promisify } from 'node:util';

import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';

import type { ExportAnswer } from './export-answer.ts';
import type { HandleExport, Receiver } from './http-receiver.ts';
import { TRACE_EXPORT_CALL, traceResponseType } from './otlp-definitions.ts';

const CODES = {
  unavailable: status.UNAVAILABLE,
  denied: status.PERMISSION_DENIED,
  invalid: status.INVALID_ARGUMENT,
} as const;

const unchanged = (bytes: Buffer): Buffer => bytes;

/** Receives OTLP by gRPC, without TLS. */
export async function startGrpcReceiver(port: number, handle: HandleExport): Promise<Receiver> {
  const server = new Server();
  server.addService(
    {
      Export: {
        path: TRACE_EXPORT_CALL,
        requestStream: false,
        responseStream: false,
        requestSerialize: unchanged,
        requestDeserialize: unchanged,
        responseSerialize: unchanged,
        responseDeserialize: unchanged,
      },
    },
    {
      Export: (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
        void handle({
          protocol: 'grpc',
          headers: readMetadata(call),
          body: call.request,
        }).then((answer) => {
          if (answer !== undefined) respond(callback, answer);
        });
      },
    },
  );
  const bind = promisify(server.bindAsync.bind(server));
  return {
    port: await bind(`127.0.0.1:${String(port)}`, ServerCredentials.createInsecure()),
    [Symbol.asyncDispose]: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

function readMetadata(call: ServerUnaryCall<Buffer, Buffer>): Record<string, string> {
  const entries = Object.entries(call.metadata.getMap());
  return Object.fromEntries(entries.map(([name, value]) => [name, value.toString()]));
}

function respond(callback: sendUnaryData<Buffer>, answer: ExportAnswer): void {
  if ('error' in answer) {
    callback({ code: CODES[answer.kind], details: answer.error });
    return;
  }
  const message = traceResponseType.fromObject(answer.response);
  callback(null, Buffer.from(traceResponseType.encode(message).finish()));
}
