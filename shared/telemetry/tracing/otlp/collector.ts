import type { Logger } from '../../logger.ts';
import type { TracingSettings } from '../tracing-settings.ts';
import type { CollectorConnection } from './collector-connection.ts';
import type { SpanBatch } from './span-batches.ts';

/** Where spans go by one set of settings. What that needs is loaded at the first export. */
export class Collector {
  readonly settings: TracingSettings;
  readonly #connect: () => Promise<CollectorConnection>;
  readonly #exports = new Set<Promise<number>>();
  #connection: Promise<CollectorConnection> | undefined;
  #isClosing = false;

  constructor(
    settings: TracingSettings,
    resource: Readonly<Record<string, string>>,
    { logger }: { readonly logger: Logger },
  ) {
    this.settings = settings;
    this.#connect = async () => {
      const [{ connectToCollector }, { logDiagnostics }] = await Promise.all([
        import('./collector-connection.ts'),
        import('./diagnostics.ts'),
      ]);
      logDiagnostics(logger, settings.logLevel);
      return connectToCollector(settings, resource);
    };
  }

  /** Exports that are under way. */
  get underWay(): number {
    return this.#exports.size;
  }

  /** Exports spans, and returns how many of them the collector rejected. */
  async export(batch: SpanBatch): Promise<number> {
    const exporting = this.#send(batch);
    this.#exports.add(exporting);
    try {
      return await exporting;
    } finally {
      this.#exports.delete(exporting);
      if (this.#isClosing && this.#exports.size === 0) this.close();
    }
  }

  /** Returns when nothing is under way any more, or after that time. */
  async idle(milliseconds: number): Promise<void> {
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => {
      late.resolve('late');
    }, milliseconds);
    while (this.#exports.size > 0) {
      const first = await Promise.race([late.promise, Promise.allSettled(this.#exports)]);
      if (first === 'late') break;
    }
    clearTimeout(timer);
  }

  /** Closes the connection once nothing is under way. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    if (this.#exports.size === 0) this.close();
  }

  /** Ends what is under way. */
  close(): void {
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  async #send(batch: SpanBatch): Promise<number> {
    this.#connection ??= this.#connect();
    let connection: CollectorConnection;
    try {
      connection = await this.#connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
    return connection.export(batch);
  }
}
