import { pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ElectionTiming } from './election-timing.ts';
import type { Leadership } from './leadership.ts';
import { epochOf, holderOf, MAX_EPOCH, renewed, type Lease } from './lease.ts';
import { isConflict, isNotFound, type LeaseClient } from './lease-client.ts';
import { Term } from './term.ts';

/** Options of a held Lease. */
export interface HeldLeaseOptions {
  readonly client: LeaseClient;
  readonly identity: string;
  readonly timing: ElectionTiming;
  readonly clock: Clock;
  readonly wallTime: () => Date;
  readonly logger: Logger;
  /** Receives every version of the Lease that is read or written. */
  readonly onLease: (lease: Lease | undefined) => void;
}

/** Another process holds the Lease, or it was deleted or released. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/**
 * A Lease that this process holds, and the leadership that comes with it.
 *
 * Writes run one after the other. The leadership ends when the Lease is deleted, because another
 * process may create it with any epoch; the next leader has to acquire it again.
 */
export class HeldLease implements Leadership {
  readonly #options: HeldLeaseOptions;
  readonly #term: Term;
  #lease: Lease;
  #epoch: number;
  #writing: Promise<unknown> = Promise.resolve();

  /** `since`: the time by the clock when the request that acquired `lease` was sent. */
  constructor(options: HeldLeaseOptions, lease: Lease, since: number) {
    this.#options = options;
    this.#lease = lease;
    this.#epoch = epochOf(lease);
    this.#term = new Term(options.clock, since + options.timing.renewDeadlineMs);
  }

  get epoch(): number {
    return this.#epoch;
  }

  get isCurrent(): boolean {
    return this.#term.isCurrent;
  }

  get signal(): AbortSignal {
    return this.#term.signal;
  }

  /** The reason why the leadership ended; undefined while it lasts. */
  get reason(): string | undefined {
    return this.#term.reason;
  }

  end(reason: string): void {
    this.#term.end(reason);
  }

  /** Renews the Lease every period, until the leadership is over. Never rejects. */
  async keep(): Promise<void> {
    const { clock, timing } = this.#options;
    while (!this.signal.aborted) {
      await pause(clock, timing.retryPeriodMs, this.signal);
      if (this.isCurrent) await this.#attempt(this.#epoch);
    }
  }

  async raiseEpochAbove(epoch: number): Promise<number> {
    if (epoch >= MAX_EPOCH) throw new RangeError(`no Lease holds an epoch above ${String(epoch)}`);
    const { clock, timing } = this.#options;
    while (this.#currentEpoch() <= epoch) {
      const isWritten = await this.#attempt(epoch + 1);
      if (isWritten) this.#epoch = epochOf(this.#lease);
      else await pause(clock, timing.retryPeriodMs, this.signal);
    }
    return this.#currentEpoch();
  }

  #currentEpoch(): number {
    if (!this.isCurrent) throw new Error(`the leadership is over: ${this.reason ?? ''}`);
    return this.#epoch;
  }

  /** Writes the Lease after the writes under way. Returns whether that succeeded; never rejects. */
  async #attempt(epoch: number): Promise<boolean> {
    const attempt = this.#writing.then(() => this.#write(epoch));
    this.#writing = attempt.catch(() => undefined);
    try {
      await attempt;
      return true;
    } catch (error) {
      if (error instanceof LeaseLostError) this.end(error.message);
      if (this.isCurrent) this.#options.logger.warn('cannot renew the Lease', {}, error);
      return false;
    }
  }

  async #write(epoch: number): Promise<void> {
    if (!this.isCurrent) throw new LeaseLostError('the leadership is over');
    const { clock, timing, onLease } = this.#options;
    const since = clock.now();
    const written = await this.#replace(epoch);
    // A server may create a missing Lease instead of refusing to replace it.
    if (written.metadata.uid !== this.#lease.metadata.uid) throw this.#lost(undefined);
    this.#lease = written;
    onLease(written);
    // Candidates count from when they see the write, which is later.
    this.#term.extend(since + timing.renewDeadlineMs);
  }

  async #replace(epoch: number): Promise<Lease> {
    try {
      return await this.#put(this.#lease, epoch);
    } catch (error) {
      if (isNotFound(error)) throw this.#lost(undefined);
      if (!isConflict(error)) throw error;
      const lease = await this.#options.client.get();
      // If it is ours, another client edited it, or our own write succeeded without a response.
      if (lease === undefined || !this.#isOurs(lease)) throw this.#lost(lease);
      return await this.#put(lease, epoch);
    }
  }

  /** Never lowers the epoch of the Lease: that epoch may be in use. */
  #put(lease: Lease, epoch: number): Promise<Lease> {
    const at = { epoch: Math.max(epoch, epochOf(lease)), now: this.#options.wallTime() };
    return this.#options.client.replace(renewed(lease, at));
  }

  #isOurs(lease: Lease): boolean {
    return holderOf(lease) === this.#options.identity;
  }

  #lost(lease: Lease | undefined): LeaseLostError {
    this.#options.onLease(lease);
    if (lease === undefined) return new LeaseLostError('the Lease was deleted');
    const holder = holderOf(lease);
    return new LeaseLostError(holder === '' ? 'the Lease was released' : `held by ${holder}`);
  }
}
