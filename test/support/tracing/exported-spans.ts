import { createTracer } from '../../../shared/telemetry/tracing/create-tracer.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { TracingSettings } from '../../../shared/telemetry/tracing/tracing-settings.ts';
import { Collector } from '../collector/collector.ts';
import { recordingLogger, type LogRecord } from '../recording-logger.ts';
import { tracingSettings } from './recorded-spans.ts';

/** All that an exporter speaks. */
export const PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

/** A tracer whose spans go to a real collector. */
export interface ExportedSpans extends AsyncDisposable {
  readonly tracer: Tracer;
  readonly collector: Collector;
  readonly records: readonly LogRecord[];
  /** Settings for the collector, by the protocol of the changes. */
  readonly settings: (changes?: Partial<TracingSettings>) => TracingSettings;
  /** Makes as many spans, named by their number. */
  readonly makeSpans: (count: number) => void;
}

/** Starts a collector, and a tracer that exports to it after 10 ms. */
export async function exportSpans(changes: Partial<TracingSettings> = {}): Promise<ExportedSpans> {
  const collector = await Collector.start();
  const logger = recordingLogger();
  const tracer = createTracer({ service: 'gatehouse-test', instance: 'test-1', logger });
  const settings = (more: Partial<TracingSettings> = {}): TracingSettings => {
    const { protocol = 'http/protobuf', ...others } = { ...changes, ...more };
    const path = protocol === 'grpc' ? '' : '/v1/traces';
    const endpoint = `${collector.endpoint(protocol)}${path}`;
    return tracingSettings({ endpoint, protocol, scheduleDelayMs: 10, ...others });
  };
  tracer.apply(settings());
  let made = 0;
  return {
    tracer,
    collector,
    records: logger.records,
    settings,
    makeSpans: (count) => {
      for (let index = 0; index < count; index += 1) {
        const span = tracer.start('request', 'server')?.span;
        span?.rename(String(made));
        span?.end();
        made += 1;
      }
    },
    async [Symbol.asyncDispose]() {
      await tracer[Symbol.asyncDispose]();
      await collector[Symbol.asyncDispose]();
    },
  };
}
