import { encodeAttributes } from './encode-span.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import type { SpanBatch } from './span-batches.ts';

/** Tags of the messages around the spans: ExportTraceServiceRequest, ResourceSpans, Resource, ScopeSpans. */
const REQUEST = { resourceSpans: 0x0a };
const RESOURCE_SPANS = { resource: 0x0a, scopeSpans: 0x12 };
const RESOURCE = { attribute: 0x0a };
const SCOPE_SPANS = { scope: 0x0a };
const SCOPE = { name: 0x0a };

/** The instrumentation scope of all spans. */
const SCOPE_NAME = 'gatehouse';

/** Returns the `ExportTraceServiceRequest` of a batch. */
export function encodeExport(resource: Readonly<Record<string, string>>, batch: SpanBatch): Buffer {
  const writer = new ProtobufWriter();
  const resourceSpans = writer.open(REQUEST.resourceSpans);
  const message = writer.open(RESOURCE_SPANS.resource);
  const attributes = { names: Object.keys(resource), values: Object.values(resource) };
  encodeAttributes(writer, RESOURCE.attribute, attributes);
  writer.close(message);
  const scopeSpans = writer.open(RESOURCE_SPANS.scopeSpans);
  const scope = writer.open(SCOPE_SPANS.scope);
  writer.text(SCOPE.name, SCOPE_NAME);
  writer.close(scope);
  writer.raw(batch.spans);
  writer.close(scopeSpans);
  writer.close(resourceSpans);
  return writer.take();
}
