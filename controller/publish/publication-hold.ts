import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';

const UNREAD_REFERENCES =
  'resources that the settings refer to cannot be read; the log of the controller says why';

/** Options of `PublicationHold`. */
export interface PublicationHoldOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long referenced objects may load before that is reported. */
  readonly patienceMs: number;
  /** Receives every reason; undefined when publication resumes. */
  readonly onChange: (reason: string | undefined) => void;
}

/** Reports why publication is held back: by the publisher, or because references are still loading. */
export class PublicationHold implements Disposable {
  readonly #options: PublicationHoldOptions;
  #publisherReason: string | undefined;
  /** Runs while referenced objects load. */
  #patience: Disposable | undefined;
  #isLoadingLong = false;

  constructor(options: PublicationHoldOptions) {
    this.#options = options;
  }

  /** Sets why the publisher holds changes back; undefined if it publishes them. */
  setPublisherReason(reason: string | undefined): void {
    this.#publisherReason = reason;
    this.#report(reason);
  }

  /** Records that references are still loading, so that nothing is published. */
  referencesLoading(): void {
    const { clock, patienceMs } = this.#options;
    this.#patience ??= clock.after(patienceMs, () => {
      this.#isLoadingLong = true;
      this.#report(UNREAD_REFERENCES);
    });
  }

  /** Records that all references are loaded, or known to be missing. */
  referencesLoaded(): void {
    this[Symbol.dispose]();
    if (!this.#isLoadingLong) return;
    this.#isLoadingLong = false;
    this.#report(this.#publisherReason);
  }

  [Symbol.dispose](): void {
    this.#patience?.[Symbol.dispose]();
    this.#patience = undefined;
  }

  #report(reason: string | undefined): void {
    const { logger, onChange } = this.#options;
    if (reason === undefined) logger.info('publication resumed');
    else logger.warn('publication held back', { reason });
    onChange(reason);
  }
}
