import { monotonicClock, pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { ElectionLog } from './election-log.ts';
import { DEFAULT_TIMING, type ElectionTiming } from './election-timing.ts';
import { HeldLease } from './held-lease.ts';
import type { Leadership } from './leadership.ts';
import { acquired, holderOf, newLease, released, type Lease } from './lease.ts';
import { isConflict, LeaseClient, type LeaseApi } from './lease-client.ts';
import { ObservedLease } from './observed-lease.ts';

/** Options of a candidate. */
export interface ElectionOptions {
  readonly api: LeaseApi;
  /** Namespace of the Lease. */
  readonly namespace: string;
  readonly leaseName: string;
  /** Unique to this process, as `holderIdentity` makes it. */
  readonly identity: string;
  /** `host:port` of the push listener of this process. */
  readonly pushAddress: string;
  readonly logger: Logger;
  readonly timing?: ElectionTiming;
  readonly clock?: Clock;
  /** Returns the times in the Lease, which people read and controllers ignore. */
  readonly wallTime?: () => Date;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/**
 * Called at the beginning of every leadership. The next leadership does not begin before the promise
 * settles; when it rejects, another controller gets the chance to lead.
 */
export type OnLeading = (leadership: Leadership) => void | Promise<void>;

/** Timeout of one request, as a share of the renew deadline: it leaves time for a second request. */
const REQUEST_SHARE = 0.4;
/** Periods to wait after a failed leadership: every candidate reads the Lease once in that time. */
const YIELD_PERIODS = 3;

/**
 * A candidate in the election of a leader by a Lease.
 *
 * The holder of the Lease leads, and renews it. Every acquisition raises `leaseTransitions` by one;
 * that number is the epoch. A candidate acquires the Lease when it was released, or when it has not
 * seen it change for as long as the holder announced. The holder has resigned by then, because its
 * renew deadline is shorter and began before the candidates saw what it wrote.
 *
 * A Lease that was deleted is created with a higher epoch by a candidate that has seen it. A process
 * that never saw one begins at 1; if there were higher epochs, `raiseEpochAbove` corrects that.
 */
export class LeaseElector implements AsyncDisposable {
  readonly #options: Required<ElectionOptions>;
  readonly #client: LeaseClient;
  readonly #observed: ObservedLease;
  readonly #log: ElectionLog;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #held: HeldLease | undefined;
  #mayHold = false;

  constructor(options: ElectionOptions) {
    this.#options = {
      timing: DEFAULT_TIMING,
      clock: monotonicClock,
      wallTime: () => new Date(),
      random: Math.random,
      ...options,
    };
    const { api, namespace, leaseName, timing, clock, logger } = this.#options;
    this.#client = new LeaseClient(
      api,
      { namespace, name: leaseName },
      { clock, timeoutMs: timing.renewDeadlineMs * REQUEST_SHARE },
    );
    this.#observed = new ObservedLease(timing.leaseDurationMs);
    this.#log = new ElectionLog(logger, leaseName);
  }

  get isLeading(): boolean {
    return this.#held?.isCurrent ?? false;
  }

  /** `host:port` of the leader's push listener, from its Lease; undefined when nobody leads. */
  get leaderAddress(): string | undefined {
    if (this.isLeading) return this.#options.pushAddress;
    const { lease } = this.#observed;
    if (lease !== undefined && holderOf(lease) === this.#options.identity) return undefined;
    return this.#observed.pushAddress(this.#options.clock.now());
  }

  /** Joins the election, until it is disposed of. */
  join(onLeading: OnLeading): void {
    this.#running ??= this.#run(onLeading);
  }

  /** Resigns, waits for the work of the leadership, and releases the Lease. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#held?.end('this controller stops');
    await this.#running;
  }

  async #run(onLeading: OnLeading): Promise<void> {
    while (!this.#isClosing()) {
      this.#held = await this.#contend();
      if (this.#held === undefined) await this.#pause(this.#contendAgainMs());
      else await this.#runTerm(this.#held, onLeading);
    }
    await this.#release();
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Acquires the Lease if it is free. */
  async #contend(): Promise<HeldLease | undefined> {
    try {
      const lease = await this.#client.get();
      const { clock, identity } = this.#options;
      this.#observed.observe(lease, clock.now());
      if (this.#isClosing()) return undefined;
      if (this.#observed.heldForMs(identity, clock.now()) > 0) {
        this.#log.canContend();
        this.#logLeader(lease);
        return undefined;
      }
      const held = await this.#acquire(lease);
      this.#log.canContend();
      return held;
    } catch (error) {
      if (isConflict(error)) this.#log.canContend();
      else this.#log.cannotContend(error);
      return undefined;
    }
  }

  async #acquire(lease: Lease | undefined): Promise<HeldLease> {
    const { namespace, leaseName, timing, clock, wallTime } = this.#options;
    const since = clock.now();
    const at = { epoch: this.#observed.highestEpoch + 1, now: wallTime() };
    const candidate = { ...this.#options, leaseDurationMs: timing.leaseDurationMs };
    const ours = acquired(lease ?? newLease(namespace, leaseName), candidate, at);
    this.#mayHold = true;
    const written = await (lease === undefined
      ? this.#client.create(ours)
      : this.#client.replace(ours));
    const onLease = (seen: Lease | undefined) => this.#observed.observe(seen, clock.now());
    onLease(written);
    return new HeldLease({ ...this.#options, client: this.#client, onLease }, written, since);
  }

  async #runTerm(held: HeldLease, onLeading: OnLeading): Promise<void> {
    if (this.#isClosing()) {
      held.end('this controller stops');
      return;
    }
    this.#log.acquired({ epoch: held.epoch, identity: this.#options.identity });
    const working = this.#work(held, onLeading);
    await held.keep();
    this.#log.lost({ epoch: held.epoch, reason: held.reason });
    const hasFailed = await working;
    if (!hasFailed || this.#isClosing()) return;
    await this.#release();
    await this.#pause(this.#options.timing.retryPeriodMs * YIELD_PERIODS);
  }

  /** Returns whether the work failed. Never rejects. */
  async #work(held: HeldLease, onLeading: OnLeading): Promise<boolean> {
    try {
      await onLeading(held);
      return false;
    } catch (error) {
      this.#log.workFailed(held.epoch, error);
      held.end('its work failed');
      return true;
    }
  }

  async #release(): Promise<void> {
    if (!this.#mayHold) return;
    const { identity, wallTime } = this.#options;
    try {
      const lease = await this.#client.get();
      if (lease === undefined || holderOf(lease) !== identity) return;
      await this.#client.replace(released(lease, wallTime()));
      this.#log.released();
    } catch (error) {
      this.#log.cannotRelease(error);
    }
  }

  #contendAgainMs(): number {
    const { timing, clock, identity, random } = this.#options;
    const periodMs = timing.retryPeriodMs * (1 + timing.jitter * random());
    const heldForMs = this.#observed.heldForMs(identity, clock.now());
    return heldForMs > 0 ? Math.min(periodMs, heldForMs) : periodMs;
  }

  #pause(ms: number): Promise<void> {
    return pause(this.#options.clock, ms, this.#closing.signal);
  }

  /** Logs the holder of the Lease, unless the Lease is free or deleted. */
  #logLeader(seen: Lease | undefined): void {
    if (seen === undefined || holderOf(seen) === '') return;
    const address = this.#observed.pushAddress(this.#options.clock.now());
    this.#log.otherLeads({ holder: holderOf(seen), address });
  }
}
