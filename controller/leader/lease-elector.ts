import { monotonicClock, pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { DEFAULT_TIMING, type ElectionTiming } from './election-timing.ts';
import { HeldLease } from './held-lease.ts';
import type { Elector, Leadership } from './leadership.ts';
import { acquired, holderOf, newLease, released, type Lease } from './lease.ts';
import { isConflict, LeaseClient, type LeaseApi } from './lease-client.ts';
import { ObservedLease } from './observed-lease.ts';

export interface ElectionOptions {
  readonly api: LeaseApi;
  /** Where the Lease is. */
  readonly namespace: string;
  readonly leaseName: string;
  /** Of this process alone, as `holderIdentity` makes them. */
  readonly identity: string;
  /** `host:port` of the push listener of this process. */
  readonly pushAddress: string;
  readonly logger: Logger;
  /**
   * Called at the beginning of every leadership. The next one does not begin before what it returns
   * has settled; when that rejects, another controller is let lead.
   */
  readonly onLeading: (leadership: Leadership) => void | Promise<void>;
  readonly timing?: ElectionTiming;
  readonly clock?: Clock;
  /** For the times in the Lease, which people read and nobody counts on. */
  readonly wallTime?: () => Date;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** Of the renew deadline: a request that hangs leaves time for another one. */
const ATTEMPT_PART = 0.4;
/** Periods to wait when our work failed: the others look once in that time. */
const YIELD_PERIODS = 3;

/**
 * Takes part in the election of a leader by a Lease, until it is closed.
 *
 * Whoever holds the Lease leads, and renews it. Every acquisition raises `leaseTransitions` by one:
 * that is the epoch. Others take it when it was released, or when they have seen no change of it for
 * as long as its holder said. Its holder has given up by then, because its renew deadline is shorter
 * and began before the others saw what it wrote.
 *
 * A Lease that somebody deletes is made again with a higher epoch by whoever has seen it. A process
 * that never saw one begins at 1; `raiseEpochAbove` is for the case that there were higher ones.
 */
export function electLeader(options: ElectionOptions): Elector {
  return new LeaseElector({
    timing: DEFAULT_TIMING,
    clock: monotonicClock,
    wallTime: () => new Date(),
    random: Math.random,
    ...options,
  });
}

class LeaseElector implements Elector {
  readonly #options: Required<ElectionOptions>;
  readonly #client: LeaseClient;
  readonly #observed: ObservedLease;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #held: HeldLease | undefined;
  #mayHold = false;
  #isFailing = false;
  /** Who was logged to lead; empty: nobody. */
  #loggedLeader = '';

  constructor(options: Required<ElectionOptions>) {
    const { api, namespace, leaseName, timing, clock } = options;
    this.#options = options;
    this.#client = new LeaseClient(
      api,
      { namespace, name: leaseName },
      { clock, timeoutMs: timing.renewDeadlineMs * ATTEMPT_PART },
    );
    this.#observed = new ObservedLease(timing.leaseDurationMs);
    this.#running = this.#run();
  }

  get isLeading(): boolean {
    return this.#held?.isCurrent ?? false;
  }

  get leaderAddress(): string | undefined {
    if (this.isLeading) return this.#options.pushAddress;
    const { lease } = this.#observed;
    if (lease !== undefined && holderOf(lease) === this.#options.identity) return undefined;
    return this.#observed.pushAddress(this.#options.clock.now());
  }

  /** Ends the leadership, waits for its work, and releases the Lease. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#held?.end('this controller stops');
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosing()) {
      this.#held = await this.#contend();
      if (this.#held === undefined) await this.#pause(this.#patienceMs());
      else await this.#lead(this.#held);
    }
    await this.#release();
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Takes the Lease if it is free. */
  async #contend(): Promise<HeldLease | undefined> {
    try {
      const lease = await this.#client.get();
      const { clock, identity } = this.#options;
      this.#observed.see(lease, clock.now());
      if (this.#isClosing()) return undefined;
      if (this.#observed.heldForMs(identity, clock.now()) > 0) {
        this.#answered();
        this.#logLeader(lease);
        return undefined;
      }
      const held = await this.#acquire(lease);
      this.#answered();
      return held;
    } catch (error) {
      if (isConflict(error)) this.#answered();
      else this.#failed(error);
      return undefined;
    }
  }

  async #acquire(lease: Lease | undefined): Promise<HeldLease> {
    const { namespace, leaseName, timing, clock, wallTime } = this.#options;
    const since = clock.now();
    const at = { epoch: this.#observed.highestEpoch + 1, now: wallTime() };
    const claim = { ...this.#options, leaseDurationMs: timing.leaseDurationMs };
    const mine = acquired(lease ?? newLease(namespace, leaseName), claim, at);
    this.#mayHold = true;
    const made = await (lease === undefined
      ? this.#client.create(mine)
      : this.#client.replace(mine));
    const onLease = (seen: Lease | undefined) => this.#observed.see(seen, clock.now());
    onLease(made);
    return new HeldLease({ ...this.#options, client: this.#client, onLease }, made, since);
  }

  async #lead(held: HeldLease): Promise<void> {
    const { logger, leaseName, identity } = this.#options;
    if (this.#isClosing()) {
      held.end('this controller stops');
      return;
    }
    this.#loggedLeader = '';
    logger.info('leadership acquired', { lease: leaseName, epoch: held.epoch, identity });
    const working = this.#work(held);
    await held.keep();
    logger.info('leadership lost', { lease: leaseName, epoch: held.epoch, reason: held.reason });
    const isFailed = await working;
    if (!isFailed || this.#isClosing()) return;
    await this.#release();
    await this.#pause(this.#options.timing.retryPeriodMs * YIELD_PERIODS);
  }

  /** Tells whether it failed. Never rejects. */
  async #work(held: HeldLease): Promise<boolean> {
    try {
      await this.#options.onLeading(held);
      return false;
    } catch (error) {
      this.#options.logger.error('leadership failed', { epoch: held.epoch }, error);
      held.end('its work failed');
      return true;
    }
  }

  async #release(): Promise<void> {
    if (!this.#mayHold) return;
    const { logger, leaseName, identity, wallTime } = this.#options;
    try {
      const lease = await this.#client.get();
      if (lease === undefined || holderOf(lease) !== identity) return;
      await this.#client.replace(released(lease, wallTime()));
      logger.info('lease released', { lease: leaseName });
    } catch (error) {
      logger.warn('lease could not be released, it runs out', { lease: leaseName }, error);
    }
  }

  #patienceMs(): number {
    const { timing, clock, identity, random } = this.#options;
    const patience = timing.retryPeriodMs * (1 + timing.jitter * random());
    const heldForMs = this.#observed.heldForMs(identity, clock.now());
    return heldForMs > 0 ? Math.min(patience, heldForMs) : patience;
  }

  #pause(ms: number): Promise<void> {
    return pause(this.#options.clock, ms, this.#closing.signal);
  }

  /** One that was deleted says nothing new. */
  #logLeader(seen: Lease | undefined): void {
    if (seen === undefined || holderOf(seen) === '') return;
    const { logger, leaseName, clock } = this.#options;
    const leader = { holder: holderOf(seen), address: this.#observed.pushAddress(clock.now()) };
    const logged = JSON.stringify(leader);
    if (logged === this.#loggedLeader) return;
    this.#loggedLeader = logged;
    logger.info('another controller leads', { lease: leaseName, ...leader });
  }

  #failed(error: unknown): void {
    const { logger, leaseName } = this.#options;
    if (!this.#isFailing) logger.warn('lease cannot be sought', { lease: leaseName }, error);
    this.#isFailing = true;
  }

  /** Not for having read a Lease alone: one that is free has to be taken as well. */
  #answered(): void {
    const { logger, leaseName } = this.#options;
    if (this.#isFailing) logger.info('lease can be sought again', { lease: leaseName });
    this.#isFailing = false;
  }
}
