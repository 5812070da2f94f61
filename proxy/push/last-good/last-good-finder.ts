import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../../shared/telemetry/logger.ts';
import { comparePositions, formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { PlacedSnapshot } from '../../store/snapshot/snapshot-keeper.ts';
import { StoreUnavailableError } from '../../store/store-unavailable-error.ts';
import { LastGoodPlace } from './last-good-place.ts';
import type { LastGoodPlaces } from './last-good.ts';

const SECOND = 1000;

/** Times of looking, in milliseconds. */
export interface FindingTiming {
  /** How long the first look waits for places that do not answer, or are being connected to. */
  readonly firstLookMs: number;
  /** Until the next look, at first; twice as long every time. */
  readonly intervalMs: number;
  readonly longestIntervalMs: number;
}

const TIMING: FindingTiming = {
  firstLookMs: SECOND / 2,
  intervalMs: SECOND,
  longestIntervalMs: 8 * SECOND,
};

/** The first look asks a place that is away again that soon. */
const POLL_MS = 50;

export interface FindingOptions {
  /** Serves what was found; false when this release cannot. */
  readonly serve: (placed: PlacedSnapshot) => Promise<boolean> | boolean;
  readonly logger: Logger;
  readonly timing?: Partial<FindingTiming>;
}

/**
 * Finds a snapshot to begin with, wherever one is kept, and has it served.
 *
 * A place that cannot be read is logged, and taken for one that holds nothing: a proxy starts without.
 */
export class LastGoodFinder {
  readonly #places: readonly LastGoodPlace[];
  readonly #serve: FindingOptions['serve'];
  readonly #logger: Logger;
  readonly #timing: FindingTiming;

  constructor({ file, redis }: LastGoodPlaces, { serve, logger, timing }: FindingOptions) {
    this.#places = [
      ...(file === undefined ? [] : [new LastGoodPlace('file', file, logger)]),
      ...(redis === undefined ? [] : [new LastGoodPlace('redis', redis, logger)]),
    ];
    this.#serve = serve;
    this.#logger = logger;
    this.#timing = { ...TIMING, ...timing };
  }

  /**
   * Looks everywhere for a short while: the newest is served, and one that cannot be leaves its turn to
   * the older one. Resolves with whether one serves.
   */
  async look(): Promise<boolean> {
    const deadline = AbortSignal.timeout(this.#timing.firstLookMs);
    await Promise.all(this.#places.map((place) => askUntil(place, deadline)));
    return await this.#serveNewest(this.#places);
  }

  /**
   * Looks on, every few seconds, until something is served or the signal aborts. Resolves with whether
   * one serves.
   */
  async goOn(signal: AbortSignal): Promise<boolean> {
    const found = new AbortController();
    const over = AbortSignal.any([signal, found.signal]);
    await Promise.all(
      this.#places.map(async (place) => {
        if (await this.#lookOn(place, over)) found.abort();
      }),
    );
    return found.signal.aborted;
  }

  async #lookOn(place: LastGoodPlace, signal: AbortSignal): Promise<boolean> {
    const { intervalMs, longestIntervalMs } = this.#timing;
    for (let factor = 1; ; factor *= 2) {
      const delay = Math.min(intervalMs * factor, longestIntervalMs) * (0.5 + Math.random() / 2);
      await pause(delay, signal);
      await untilAborted(place.ask(), signal);
      if (signal.aborted) return false;
      if (await this.#serveNewest([place])) return true;
    }
  }

  async #serveNewest(places: readonly LastGoodPlace[]): Promise<boolean> {
    const found = places.flatMap((place) => {
      place.logFailure();
      const placed = place.take();
      return placed === undefined ? [] : [{ place: place.name, placed }];
    });
    found.sort((a, b) => comparePositions(b.placed.position, a.placed.position));
    for (const each of found) if (await this.#serveFound(each)) return true;
    return false;
  }

  async #serveFound({
    place,
    placed,
  }: {
    readonly place: string;
    readonly placed: PlacedSnapshot;
  }): Promise<boolean> {
    this.#logger.info('last good snapshot found', {
      place,
      position: formatPosition(placed.position),
      version: placed.snapshot.version,
    });
    return await this.#serve(placed);
  }
}

async function askUntil(place: LastGoodPlace, deadline: AbortSignal): Promise<void> {
  for (;;) {
    await untilAborted(place.ask(), deadline);
    if (deadline.aborted || !(place.failure instanceof StoreUnavailableError)) return;
    await pause(POLL_MS, deadline);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** Resolves with the first of both. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', stop);
}
