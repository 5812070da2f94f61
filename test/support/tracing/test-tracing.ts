import { ProcessTracing } from '../../../shared/telemetry/tracing/settings/process-tracing.ts';
import type { TracingSettings } from '../../../shared/telemetry/tracing/tracing-settings.ts';
import { eventually } from '../eventually.ts';
import { recordingLogger } from '../recording-logger.ts';
import { recordSpans, tracingSettings, type RecordedSpan } from './recorded-spans.ts';

/** The tracing of a gateway of a test, whose spans stay in memory. */
export interface TestTracing {
  readonly process: ProcessTracing;
  /** Spans since the last `traceBy`. */
  spans(): readonly RecordedSpan[];
  /** Returns the spans of requests in the order in which they began, once there are so many. */
  requests(count: number): Promise<readonly RecordedSpan[]>;
  /** Traces by these settings from now on, and forgets the spans of before. */
  traceBy(changes: Partial<TracingSettings>): void;
}

/** Returns tracing that is on from the first configuration. */
export function startTracing(): TestTracing {
  const { tracer, spans } = recordSpans();
  const environment = {
    exporter: 'otlp',
    endpoint: { url: 'http://127.0.0.1:4318', isComplete: false },
  } as const;
  const process = new ProcessTracing({ tracer, environment, logger: recordingLogger() });
  let before = 0;
  const recent = (): readonly RecordedSpan[] => spans.slice(before);
  const requests = (): readonly RecordedSpan[] =>
    recent()
      .filter(({ kind }) => kind === 'server')
      .toSorted((one, other) => one.startedAt - other.startedAt);
  return {
    process,
    spans: recent,
    async requests(count) {
      // The span of a request ends after its response.
      await eventually('the spans of requests end', () => requests().length >= count);
      return requests();
    },
    traceBy(changes) {
      before = spans.length;
      tracer.apply(tracingSettings(changes));
    },
  };
}

/** Returns an attribute of a span. */
export function attributeOf(span: RecordedSpan, name: string): unknown {
  return span.attributes[name];
}
