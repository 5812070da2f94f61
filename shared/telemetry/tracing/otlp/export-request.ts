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

/**
 * Returns the `ExportTraceServiceRequest` of a batch. The spans are most of it, so they are copied once, behind all
 * else.
 */
export function encodeExport(
  resource: Readonly<Record<string, string>>,
  { spans }: Pick<SpanBatch, 'spans'>,
): Buffer {
  const writer = new ProtobufWriter();
  const scopeStart = writer.open(SCOPE_SPANS.scope);
  writer.text(SCOPE.name, SCOPE_NAME);
  writer.close(scopeStart);
  const scope = writer.take();
  const resourceStart = writer.open(RESOURCE_SPANS.resource);
  const attributes = { names: Object.keys(resource), values: Object.values(resource) };
  encodeAttributes(writer, RESOURCE.attribute, attributes);
  writer.close(resourceStart);
  writer.varint(RESOURCE_SPANS.scopeSpans, scope.length + spans.length);
  writer.raw(scope);
  const resourceSpans = writer.take();
  writer.varint(REQUEST.resourceSpans, resourceSpans.length + spans.length);
  return Buffer.concat([writer.take(), resourceSpans, spans]);
}
