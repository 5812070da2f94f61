import { OtlpExporter, type SpanSource } from './otlp/otlp-exporter.ts';
import { Tracer } from './tracer.ts';

/** Creates the tracer of a process. It is off until settings are applied. */
export function createTracer(source: SpanSource): Tracer {
  return new Tracer(new OtlpExporter(source));
}
