import { describe, expect, it } from '@jest/globals';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import fc from 'fast-check';

import type { EndedSpan } from '../../../../../../shared/telemetry/tracing/ended-span.ts';
import type { AttributeValue } from '../../../../../../shared/telemetry/tracing/names.ts';
import { encodeSpan } from '../../../../../../shared/telemetry/tracing/otlp/encode-span.ts';
import { exportAsJson } from '../../../../../../shared/telemetry/tracing/otlp/export-as-json.ts';
import { encodeExport } from '../../../../../../shared/telemetry/tracing/otlp/export-request.ts';
import { ProtobufWriter } from '../../../../../../shared/telemetry/tracing/otlp/protobuf-writer.ts';
import { decodeJson } from '../../../../../support/collector/decode-json.ts';
import { decodeProtobuf } from '../../../../../support/collector/decode-protobuf.ts';
import { traceRequestType } from '../../../../../support/collector/otlp-definitions.ts';
import { arbitrarySpan } from '../../../../../support/tracing/arbitrary-spans.ts';
import { readableSpan } from '../../../../../support/tracing/readable-span.ts';

const TIME_ORIGIN = 1_790_000_000_000.25;
const REASONS = ['email', 'domain'];
const RESOURCE = { 'service.name': 'gatehouse-proxy', place: 'Zürich' };

function exportOf(spans: readonly EndedSpan[]): Buffer {
  const writer = new ProtobufWriter();
  for (const span of spans) encodeSpan(writer, span, TIME_ORIGIN);
  return encodeExport(RESOURCE, { spans: writer.take() });
}

/** What OpenTelemetry's serializer makes of the same spans. */
function libraryExportOf(spans: readonly EndedSpan[]): Uint8Array {
  const resource = { attributes: RESOURCE };
  const instrumentationScope = { name: 'gatehouse' };
  const readable = spans.map((span) =>
    Object.assign(readableSpan(span, TIME_ORIGIN), { resource, instrumentationScope }),
  );
  return ProtobufTraceSerializer.serializeRequest(readable) ?? new Uint8Array();
}

/** Defaults are the same whether they are written or not. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  const entries = Object.entries(value).filter(
    ([key, each]) => !(/^dropped|^code$/.test(key) && each === 0),
  );
  const kept = entries.map(([key, each]) => [key, withoutDefaults(each)] as const);
  return Object.fromEntries(kept.filter(([key, each]) => key !== 'status' || !isEmpty(each)));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

describe('an export', () => {
  it('says the same as the one of OpenTelemetry, for any spans', () => {
    fc.assert(
      fc.property(fc.array(arbitrarySpan, { minLength: 1, maxLength: 4 }), (spans) => {
        const ours = decodeProtobuf(traceRequestType, exportOf(spans));
        const theirs = decodeProtobuf(traceRequestType, libraryExportOf(spans));
        expect(withoutDefaults(ours)).toEqual(withoutDefaults(theirs));
      }),
    );
  });

  it('says the same again, when its attributes are known', () => {
    const [span] = fc.sample(arbitrarySpan, 1);
    if (span === undefined) throw new Error('no span');
    const attributes = { names: ['url.path', 'server.port'], values: ['/ü', 443] };
    const spans = Array.from({ length: 100 }, () => ({ ...span, attributes }));
    const ours = decodeProtobuf(traceRequestType, exportOf(spans));
    const theirs = decodeProtobuf(traceRequestType, libraryExportOf(spans));
    expect(withoutDefaults(ours)).toEqual(withoutDefaults(theirs));
  });

  it('says the same of many spans that have some attributes of the ones before', () => {
    const [span] = fc.sample(arbitrarySpan, 1);
    if (span === undefined) throw new Error('no span');
    const value = fc.constantFrom<AttributeValue>('', '/ü', 'x'.repeat(200), 0, 443, true, REASONS);
    const attributes = fc
      .tuple(value, value, value, value)
      .chain((values) =>
        fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }).map((names) => ({ names, values })),
      );
    const spans = fc
      .sample(attributes, 2_000)
      .map(({ names, values }) => ({ names, values: values.slice(0, names.length) }))
      .map((each) => ({ ...span, attributes: each }));
    const ours = decodeProtobuf(traceRequestType, exportOf(spans));
    const theirs = decodeProtobuf(traceRequestType, libraryExportOf(spans));
    expect(withoutDefaults(ours)).toEqual(withoutDefaults(theirs));
  });

  it('is the same in JSON, for any spans', () => {
    fc.assert(
      fc.property(fc.array(arbitrarySpan, { minLength: 1, maxLength: 4 }), (spans) => {
        const request = exportOf(spans);
        const json = Buffer.from(exportAsJson(request));
        expect(decodeJson(traceRequestType, json)).toEqual(
          decodeProtobuf(traceRequestType, request),
        );
      }),
    );
  });
});
