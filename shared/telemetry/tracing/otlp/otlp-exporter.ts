import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';

import type { Logger } from '../../logger.ts';
import { cleanText } from '../clean-text.ts';
import type { EndedSpan } from '../ended-span.ts';
import type { SpanExporter } from '../tracer.ts';
import type { TracingSettings } from '../tracing-settings.ts';
import { Collector } from './collector.ts';
import { describeFailure, ExportFailure } from './export-failure.ts';
import { ExportLog } from './export-log.ts';
import { type SpanBatch, SpanBatches } from './span-batches.ts';

/** The process whose spans are exported. */
export interface SpanSource {
  /** `service.name`, unless the resource attributes of the settings have one. */
  readonly service: string;
  /** `service.instance.id`, likewise: tells processes of one service apart. */
  readonly instance: string;
  readonly logger: Logger;
}

/** Spans that wait for a collector take at most so much memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Exports that are under way at the same time, while the collector takes them. */
const MAX_EXPORTS = 4;
/** How long the end of tracing waits for the collector. */
const MAX_FLUSH = 2_000;
/** How long exports take to fail whose connection was closed. */
const MAX_CLOSE = 200;
/** Why spans are dropped that no collector took until tracing was turned off or the process ended. */
const ENDED = 'no collector took them before the end';

/**
 * Exports spans to a collector, in batches.
 *
 * While the collector is away, spans wait, and go to it or to the next one when it is back. Spans for which
 * there is no room are dropped, and so are those that the collector refuses.
 */
export class OtlpExporter implements SpanExporter {
  readonly #source: SpanSource;
  readonly #log: ExportLog;
  readonly #batches = new SpanBatches(MAX_WAITING_BYTES);
  #collector: Collector | undefined;
  #exported = 0;
  #schedule: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #finishing: Promise<void> = Promise.resolve();

  constructor(source: SpanSource) {
    this.#source = source;
    this.#log = new ExportLog(source.logger);
  }

  get exported(): number {
    return this.#exported;
  }

  get dropped(): number {
    return this.#log.dropped;
  }

  add(span: EndedSpan): void {
    const collector = this.#collector;
    if (collector === undefined) return;
    const { maxExportBatchSize, scheduleDelayMs } = collector.settings;
    if (!this.#batches.add(span, maxExportBatchSize)) {
      this.#log.drop(1, 'too many wait for the collector');
    } else if (this.#batches.full > 0) this.#pump(collector);
    this.#schedule ??= setTimeout(() => this.#exportOpen(), scheduleDelayMs).unref();
  }

  apply(settings: TracingSettings | undefined): void {
    const previous = this.#collector;
    if (isDeepStrictEqual(previous?.settings, settings)) return;
    this.#collector = settings && new Collector(settings, this.#resource(settings), this.#source);
    clearTimeout(this.#schedule);
    this.#schedule = undefined;
    this.#stopWaiting();
    if (settings !== undefined) previous?.closeWhenIdle();
    else if (previous !== undefined) this.#finishing = this.#finish(previous);
    this.#exportOpen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.apply(undefined);
    await this.#finishing;
  }

  #resource({ resourceAttributes }: TracingSettings): Readonly<Record<string, string>> {
    const { service, instance } = this.#source;
    const own = {
      'service.name': service,
      'service.instance.id': instance,
      'host.name': hostname(),
    };
    return { ...own, ...resourceAttributes };
  }

  #exportOpen(): void {
    this.#schedule = undefined;
    this.#batches.close();
    if (this.#collector !== undefined) this.#pump(this.#collector);
  }

  #pump(collector: Collector): void {
    const most = this.#log.isFailing ? 1 : MAX_EXPORTS;
    while (this.#retry === undefined && collector.underWay < most) {
      const batch = this.#batches.take();
      if (batch === undefined) return;
      void this.#export(batch, collector);
    }
  }

  async #export(batch: SpanBatch, collector: Collector): Promise<void> {
    try {
      this.#accepted(batch, await collector.export(batch));
    } catch (error) {
      this.#failed(batch, collector, error);
    }
    this.#pump(this.#collector ?? collector);
  }

  #accepted(batch: SpanBatch, rejected: number): void {
    this.#batches.release(batch);
    this.#exported += batch.count - rejected;
    if (rejected > 0) this.#log.drop(rejected, 'the collector rejected them');
    this.#log.succeeded();
    if (rejected === 0 && this.#batches.isHalfEmpty) this.#log.recovered();
  }

  #failed(batch: SpanBatch, collector: Collector, error: unknown): void {
    const { settings } = collector;
    // The query of an endpoint may have a key.
    const endpoint = cleanText(settings.endpoint);
    this.#log.failed(describeFailure(error, settings.headers), endpoint);
    const isRetryable = !(error instanceof ExportFailure) || error.isRetryable;
    if (!isRetryable) this.#drop(batch, 'the collector refused them');
    else if (this.#collector === undefined) this.#drop(batch, ENDED);
    else {
      this.#batches.putBack(batch);
      if (collector === this.#collector) this.#waitBeforeRetry(settings.scheduleDelayMs);
    }
  }

  #drop(batch: SpanBatch, why: string): void {
    this.#batches.release(batch);
    this.#log.drop(batch.count, why);
  }

  #waitBeforeRetry(delay: number): void {
    this.#retry ??= setTimeout(() => this.#tryAgain(), delay).unref();
  }

  #tryAgain(): void {
    this.#stopWaiting();
    if (this.#collector !== undefined) this.#pump(this.#collector);
  }

  #stopWaiting(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /** Exports what is left, as long as the collector takes it, and for a bounded time. */
  async #finish(collector: Collector): Promise<void> {
    this.#batches.close();
    this.#pump(collector);
    await collector.idle(MAX_FLUSH);
    collector.close();
    await collector.idle(MAX_CLOSE);
    while (this.#collector === undefined) {
      const batch = this.#batches.take();
      if (batch === undefined) return;
      this.#drop(batch, ENDED);
    }
  }
}
