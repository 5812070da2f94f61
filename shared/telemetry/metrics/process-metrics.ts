import { constants, performance, PerformanceObserver } from 'node:perf_hooks';

import { isRecord } from '../../runtime/is-record.ts';
import type { LineWriter } from '../line-writer.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { Counter } from './counter.ts';
import type { Gauge } from './gauge.ts';
import type { Histogram } from './histogram.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

const MS_PER_SECOND = 1_000;
const MICROSECONDS_PER_SECOND = 1_000_000;

/** Ten times a second costs nothing measurable. */
const BEAT_MS = 100;

const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
};

/** What a process measures of itself. */
export interface ProcessParts {
  /** Version of Gatehouse. */
  readonly version: string;
  readonly lines: Pick<LineWriter, 'dropped'>;
  readonly tracer: Pick<Tracer, 'exported' | 'dropped'>;
}

/** The metrics that every process has. */
export class ProcessMetrics {
  readonly #build: Gauge<'version' | 'node'>;
  readonly #lag: Histogram;
  readonly #collections: Histogram<'kind'>;
  readonly #droppedLines: Counter<'rank'>;
  readonly #spans: Counter<'outcome'>;

  constructor(registry: MetricsRegistry) {
    this.#build = registry.gauge({
      name: 'gatehouse_build_info',
      help: 'Always 1. Its labels are the versions of Gatehouse and of Node.',
      labels: ['version', 'node'],
    });
    defineTimes(registry);
    defineMemory(registry);
    this.#lag = registry.histogram({
      name: 'gatehouse_event_loop_lag_seconds',
      help: 'How late timers were, measured ten times a second. Requests wait as long.',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    });
    this.#collections = registry.histogram({
      name: 'gatehouse_gc_duration_seconds',
      help: 'Duration of garbage collections. `kind` is `minor`, `major`, `incremental` or `other`.',
      labels: ['kind'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5],
    });
    this.#droppedLines = registry.counter({
      name: 'gatehouse_log_lines_dropped_total',
      help: 'Lines of the log that were lost because what reads stdout was too slow. `rank` is `audit` for the audit log, which is dropped last, else `ordinary`.',
      labels: ['rank'],
    });
    this.#spans = registry.counter({
      name: 'gatehouse_spans_total',
      help: 'Spans that a collector has accepted (`exported`), and spans that were lost (`dropped`).',
      labels: ['outcome'],
    });
  }

  /** Measures this process until it is disposed of. */
  measure({ version, lines, tracer }: ProcessParts): Disposable {
    this.#build.set({ version, node: process.versions.node }, 1);
    this.#droppedLines.readFrom(() => [
      { labels: { rank: 'ordinary' }, value: lines.dropped.ordinary },
      { labels: { rank: 'audit' }, value: lines.dropped.audit },
    ]);
    this.#spans.readFrom(() => [
      { labels: { outcome: 'exported' }, value: tracer.exported },
      { labels: { outcome: 'dropped' }, value: tracer.dropped },
    ]);
    const beat = this.#measureLag();
    const observer = this.#observeCollections();
    return {
      [Symbol.dispose]() {
        clearInterval(beat);
        observer.disconnect();
      },
    };
  }

  #measureLag(): NodeJS.Timeout {
    const cell = this.#lag.cell({});
    let last = performance.now();
    return setInterval(() => {
      const now = performance.now();
      cell.observe(Math.max(0, now - last - BEAT_MS) / MS_PER_SECOND);
      last = now;
    }, BEAT_MS).unref();
  }

  #observeCollections(): PerformanceObserver {
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const kind = GC_KINDS[kindOf(entry)] ?? 'other';
        this.#collections.observe({ kind }, entry.duration / MS_PER_SECOND);
      }
    });
    observer.observe({ entryTypes: ['gc'] });
    return observer;
  }
}

/** Types of Node know no details of entries. */
function kindOf(entry: PerformanceEntry): number {
  const detail = 'detail' in entry ? entry.detail : undefined;
  return isRecord(detail) ? Number(detail['kind']) : 0;
}

function defineTimes(registry: MetricsRegistry): void {
  registry
    .gauge({
      name: 'gatehouse_process_start_time_seconds',
      help: 'When the process started, in seconds since the epoch.',
    })
    .readFrom(() => performance.timeOrigin / MS_PER_SECOND);
  registry
    .counter({
      name: 'gatehouse_process_cpu_seconds_total',
      help: 'CPU time of the process. `mode` is `user` or `system`.',
      labels: ['mode'],
    })
    .readFrom(() => {
      const { user, system } = process.cpuUsage();
      return [
        { labels: { mode: 'user' }, value: user / MICROSECONDS_PER_SECOND },
        { labels: { mode: 'system' }, value: system / MICROSECONDS_PER_SECOND },
      ];
    });
  registry
    .counter({
      name: 'gatehouse_event_loop_active_seconds_total',
      help: 'Time in which the event loop did not wait. A rate near 1 means that one core is used up.',
    })
    .readFrom(() => performance.eventLoopUtilization().active / MS_PER_SECOND);
}

function defineMemory(registry: MetricsRegistry): void {
  registry
    .gauge({
      name: 'gatehouse_process_resident_memory_bytes',
      help: 'Memory that the process has.',
    })
    .readFrom(() => process.memoryUsage.rss());
  registry
    .gauge({
      name: 'gatehouse_process_memory_used_bytes',
      help: 'Memory that is used: of objects in the `heap`, and of buffers that are `external` to it.',
      labels: ['kind'],
    })
    .readFrom(() => {
      const { heapUsed, external } = process.memoryUsage();
      return [
        { labels: { kind: 'heap' }, value: heapUsed },
        { labels: { kind: 'external' }, value: external },
      ];
    });
}
