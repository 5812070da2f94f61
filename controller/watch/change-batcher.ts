import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Changes } from '../compile/compilation.ts';
import { ChangeBatch } from './change-batch.ts';
import { Holdoff } from './holdoff.ts';

/** Options of a ChangeBatcher. */
export interface ChangeBatcherOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives one batch at a time. If it throws or rejects, the error is logged and the batch is lost. */
  readonly onChanges: OnChanges;
}

/** Receives a batch of changes. `since`: when the first of them was seen, by the clock. */
export type OnChanges = (changes: Changes, since: number) => void | Promise<void>;

/**
 * Collects changes and delivers them in batches.
 *
 * The first batch waits until every required source has loaded. A later one waits for references that
 * are still loading, unless it holds a change of the settings: the settings decide what is referenced.
 */
export class ChangeBatcher implements AsyncDisposable {
  readonly #options: ChangeBatcherOptions;
  readonly #holdoff: Holdoff;
  readonly #loadingSources = new Set<object>();
  readonly #loadingReferences = new Set<object>();
  #batch = new ChangeBatch();
  /** When the first change of the batch was seen, by the clock. */
  #since: number | undefined;
  /** True from the start, because an empty cluster has to be reported too. */
  #isPending = true;
  #isLackingReferences = true;

  constructor(options: ChangeBatcherOptions) {
    this.#options = options;
    this.#holdoff = new Holdoff(options.clock, () => this.#deliver());
    this.#batch.settings = null;
  }

  /** Whether a requested reference is missing in the batches delivered so far. */
  get isLackingReferences(): boolean {
    return this.#isLackingReferences;
  }

  /** Records a change in the next batch. */
  change(record: (batch: ChangeBatch) => void): void {
    record(this.#batch);
    this.#since ??= this.#options.clock.now();
    this.#requestDelivery();
  }

  /** Delivers nothing before this source has loaded. */
  requireSource(source: object, loaded: Promise<void>): void {
    this.#loadingSources.add(source);
    void loaded.then(() => {
      this.#loadingSources.delete(source);
      this.#requestDelivery();
    });
  }

  /** Makes batches wait for a reference; `record` adds its state before it has loaded. */
  awaitReference(
    reference: object,
    loaded: Promise<void>,
    record: (batch: ChangeBatch) => void = () => undefined,
  ): void {
    record(this.#batch);
    this.#isLackingReferences = true;
    this.#loadingReferences.add(reference);
    void loaded.then(() => this.stopAwaiting(reference));
  }

  /** Delivers without this reference, if it is still loading. */
  stopAwaiting(reference: object): void {
    if (this.#loadingReferences.delete(reference)) this.#requestDelivery();
  }

  /** Waits for the delivery in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#holdoff[Symbol.asyncDispose]();
  }

  #requestDelivery(): void {
    this.#isPending = true;
    if (!this.#isWaiting()) this.#holdoff.request();
  }

  #isWaiting(): boolean {
    if (this.#loadingSources.size > 0) return true;
    return this.#loadingReferences.size > 0 && this.#batch.settings === undefined;
  }

  async #deliver(): Promise<void> {
    if (this.#isWaiting() || !this.#isPending) return;
    const batch = this.#batch;
    const since = this.#since ?? this.#options.clock.now();
    this.#batch = new ChangeBatch();
    this.#since = undefined;
    this.#isPending = false;
    this.#isLackingReferences = this.#loadingReferences.size > 0;
    try {
      await this.#options.onChanges(batch, since);
    } catch (error) {
      this.#options.logger.error('cannot handle changes in the cluster', {}, error);
    }
  }
}
