import type { Logger } from '../../shared/telemetry/logger.ts';

/** The holder of a Lease, and the address that it announces. */
export interface AnnouncedLeader {
  readonly holder: string;
  readonly address: string | undefined;
}

/** Logs the events of an election. A lasting state is logged once. */
export class ElectionLog {
  readonly #logger: Logger;
  readonly #lease: string;
  #isFailing = false;
  /** The leader that was logged last; empty: none. */
  #leader = '';

  constructor(logger: Logger, lease: string) {
    this.#logger = logger;
    this.#lease = lease;
  }

  acquired(fields: { readonly epoch: number; readonly identity: string }): void {
    this.#leader = '';
    this.#logger.info('leadership acquired', { lease: this.#lease, ...fields });
  }

  lost(fields: { readonly epoch: number; readonly reason: string | undefined }): void {
    this.#logger.info('leadership lost', { lease: this.#lease, ...fields });
  }

  otherLeads(leader: AnnouncedLeader): void {
    const logged = JSON.stringify(leader);
    if (logged === this.#leader) return;
    this.#leader = logged;
    this.#logger.info('another controller leads', { lease: this.#lease, ...leader });
  }

  workFailed(epoch: number, error: unknown): void {
    this.#logger.error('leadership failed', { epoch }, error);
  }

  cannotContend(error: unknown): void {
    if (!this.#isFailing) {
      this.#logger.warn('cannot contend for the Lease', { lease: this.#lease }, error);
    }
    this.#isFailing = true;
  }

  /** Call this once the Lease is acquired or held: reading a free Lease proves too little. */
  canContend(): void {
    if (this.#isFailing) {
      this.#logger.info('contending for the Lease again', { lease: this.#lease });
    }
    this.#isFailing = false;
  }

  released(): void {
    this.#logger.info('lease released', { lease: this.#lease });
  }

  cannotRelease(error: unknown): void {
    this.#logger.warn('cannot release the Lease, it expires', { lease: this.#lease }, error);
  }
}
