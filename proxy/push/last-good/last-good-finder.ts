import { monotonicClock, pause, type Clock } from '../../../shared/runtime/clock.ts';
import { comparePositions, formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PlacedSnapshot } from '../../store/snapshot/snapshot-keeper.ts';
import { StoreUnavailableError } from '../../store/store-unavailable-error.ts';
import { LastGoodPlace } from './last-good-place.ts';
import type { LastGoodPlaces } from './last-good.ts';

const SECOND = 1000;

/** Times of the search, in milliseconds. */
export interface SearchTiming {
  /** How long the first search waits for places that do not answer, or are not connected yet. */
  readonly firstSearchMs: number;
  /** Wait before the next read of a place; it doubles every time. */
  readonly intervalMs: number;
  readonly longestIntervalMs: number;
}

const TIMING: SearchTiming = {
  firstSearchMs: SECOND / 2,
  intervalMs: SECOND,
  longestIntervalMs: 8 * SECOND,
};

/** Time between reads of an unreachable place during the first search. */
const POLL_MS = 50;

/** Options of a `LastGoodFinder`. */
export interface LastGoodFinderOptions {
  /** Serves a snapshot; returns false if it cannot be served. */
  readonly serve: (placed: PlacedSnapshot) => Promise<boolean> | boolean;
  readonly logger: Logger;
  readonly timing?: Partial<SearchTiming>;
  readonly clock?: Clock;
}

/**
 * Finds a last good snapshot for a proxy that serves nothing, and serves it.
 *
 * A place that cannot be read is logged and counts as empty, so that it does not keep a proxy from
 * starting.
 */
export class LastGoodFinder {
  readonly #places: readonly LastGoodPlace[];
  readonly #serve: LastGoodFinderOptions['serve'];
  readonly #logger: Logger;
  readonly #timing: SearchTiming;
  readonly #clock: Clock;

  constructor({ file, redis }: LastGoodPlaces, options: LastGoodFinderOptions) {
    const { serve, logger, timing, clock = monotonicClock } = options;
    this.#places = [
      ...(file === undefined ? [] : [new LastGoodPlace('file', file, logger)]),
      ...(redis === undefined ? [] : [new LastGoodPlace('redis', redis, logger)]),
    ];
    this.#serve = serve;
    this.#logger = logger;
    this.#timing = { ...TIMING, ...timing };
    this.#clock = clock;
  }

  /**
   * Searches all places for a short while, and serves the newest snapshot; an older one if that
   * cannot be served. Resolves with whether one serves.
   */
  async search(): Promise<boolean> {
    const over = new AbortController();
    const deadline = this.#clock.after(this.#timing.firstSearchMs, () => over.abort());
    await Promise.all(this.#places.map((place) => this.#readUntil(place, over.signal)));
    deadline[Symbol.dispose]();
    return await this.#serveNewest(this.#places);
  }

  /**
   * Searches every few seconds, until a snapshot serves or the signal aborts. Resolves with whether
   * one serves.
   */
  async keepSearching(signal: AbortSignal): Promise<boolean> {
    const found = new AbortController();
    const over = AbortSignal.any([signal, found.signal]);
    await Promise.all(
      this.#places.map(async (place) => {
        if (await this.#keepReading(place, over)) found.abort();
      }),
    );
    return found.signal.aborted;
  }

  async #readUntil(place: LastGoodPlace, deadline: AbortSignal): Promise<void> {
    for (;;) {
      await untilAborted(place.read(), deadline);
      if (deadline.aborted || !(place.failure instanceof StoreUnavailableError)) return;
      await pause(this.#clock, POLL_MS, deadline);
    }
  }

  async #keepReading(place: LastGoodPlace, signal: AbortSignal): Promise<boolean> {
    const { intervalMs, longestIntervalMs } = this.#timing;
    for (let factor = 1; ; factor *= 2) {
      const delay = Math.min(intervalMs * factor, longestIntervalMs) * (0.5 + Math.random() / 2);
      await pause(this.#clock, delay, signal);
      await untilAborted(place.read(), signal);
      if (signal.aborted) return false;
      if (await this.#serveNewest([place])) return true;
    }
  }

  async #serveNewest(places: readonly LastGoodPlace[]): Promise<boolean> {
    const found = places.flatMap((place) => {
      place.logFailure();
      const placed = place.nextFound();
      return placed === undefined ? [] : [{ place: place.name, placed }];
    });
    found.sort((a, b) => comparePositions(b.placed.position, a.placed.position));
    for (const { place, placed } of found) if (await this.#serveFound(place, placed)) return true;
    return false;
  }

  async #serveFound(place: string, placed: PlacedSnapshot): Promise<boolean> {
    this.#logger.info('last good snapshot found', {
      place,
      position: formatPosition(placed.position),
      version: placed.snapshot.version,
    });
    return await this.#serve(placed);
  }
}

/** Resolves when the work is done, or the signal aborts. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', stop);
}
