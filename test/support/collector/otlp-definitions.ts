import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import protobuf, { type Type } from 'protobufjs';

/**
 * The official protobuf definitions of OTLP, version 1.4.0, read from the `.proto` files that
 * `@elastic/mockotlpserver` carries. Nothing else of that package is used.
 */
const folder = dirname(
  createRequire(import.meta.url).resolve('@elastic/mockotlpserver/package.json'),
);

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join(folder, target);
root.loadSync('opentelemetry/proto/collector/trace/v1/trace_service.proto').resolveAll();

const SERVICE = 'opentelemetry.proto.collector.trace.v1';

/** What exporters send. */
export const traceRequestType: Type = root.lookupType(`${SERVICE}.ExportTraceServiceRequest`);

/** What collectors answer. */
export const traceResponseType: Type = root.lookupType(`${SERVICE}.ExportTraceServiceResponse`);

/** Path of the call that exports spans, by gRPC. */
export const TRACE_EXPORT_CALL = `/${SERVICE}.TraceService/Export`;
