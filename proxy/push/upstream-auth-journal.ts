import { clip } from '../../shared/runtime/clip.ts';
import { monotonicClock, type Clock } from '../../shared/runtime/clock.ts';
import {
  LONGEST_UPSTREAM_AUTH_MESSAGE,
  MAX_UPSTREAM_AUTH_REPORTS,
  type UpstreamAuthReport,
} from '../../shared/snapshot/push-frames.ts';
import type {
  UpstreamAuthOutcome,
  UpstreamAuthReports,
} from '../upstream-oauth/upstream-auth-reports.ts';

/** More routes than that are not remembered. */
const MAX_ROUTES = 10_000;

interface Entry {
  readonly position: number;
  readonly at: number;
  readonly outcome: UpstreamAuthOutcome;
}

/** A part of the journal. */
export interface JournalPart {
  readonly reports: readonly UpstreamAuthReport[];
  /** The position after it. */
  readonly position: number;
}

/** The last outcome of each route, for the controller: in the order in which they were found out. */
export class UpstreamAuthJournal implements UpstreamAuthReports {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #position = 0;

  constructor(clock: Clock = monotonicClock) {
    this.#clock = clock;
  }

  report(routeName: string, outcome: UpstreamAuthOutcome): void {
    this.#position += 1;
    // The last is the newest.
    this.#entries.delete(routeName);
    this.#entries.set(routeName, { position: this.#position, at: this.#clock.now(), outcome });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ROUTES && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Returns what follows a position, as much as a frame may have; 0 is the beginning. */
  after(position: number): JournalPart {
    const reports: UpstreamAuthReport[] = [];
    let last = position;
    for (const [route, entry] of this.#entries) {
      if (reports.length === MAX_UPSTREAM_AUTH_REPORTS) break;
      if (entry.position <= position) continue;
      reports.push(this.#reportOf(route, entry));
      last = entry.position;
    }
    return { reports, position: last };
  }

  #reportOf(route: string, { at, outcome }: Entry): UpstreamAuthReport {
    const ageMs = Math.round(this.#clock.now() - at);
    if (outcome.kind === 'success') return { route, ageMs };
    const { reason, message } = outcome;
    // Attack: an upstream that says much about itself makes a line that ends the stream, again and again.
    const short = clip(message, LONGEST_UPSTREAM_AUTH_MESSAGE);
    return { route, ageMs, failure: { reason, message: short } };
  }
}
