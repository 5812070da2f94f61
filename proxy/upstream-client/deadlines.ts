import { performance } from 'node:perf_hooks';

/** Something that must happen before a time. */
export interface Deadline {
  /** Milliseconds as of `performance.now`; `Infinity` for none. */
  readonly deadline: number;
  /** The time has passed. */
  expire(): void;
}

/** A deadline may pass by this much, so that many of them cost one look. */
const GRANULARITY_MS = 50;

/** Watches many deadlines with one timer, which does not keep the process alive. */
export class Deadlines {
  readonly #watched: Iterable<Deadline>;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;

  /** `watched` changes while it is watched. */
  constructor(watched: Iterable<Deadline>) {
    this.#watched = watched;
  }

  /** Must be called for each new deadline. One that is moved to a later time is found out here. */
  note(deadline: number): void {
    if (deadline < this.#wakesAt) this.#wakeAt(deadline);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#wakesAt = Infinity;
  }

  #wakeAt(time: number): void {
    clearTimeout(this.#timer);
    this.#wakesAt = time;
    this.#timer = setTimeout(this.#look, Math.max(time - performance.now(), 0)).unref();
  }

  readonly #look = (): void => {
    this.#wakesAt = Infinity;
    const now = performance.now();
    let next = Infinity;
    for (const watched of this.#watched) {
      if (watched.deadline <= now) watched.expire();
      else next = Math.min(next, watched.deadline);
    }
    if (next !== Infinity) this.note(Math.max(next, now + GRANULARITY_MS));
  };
}
