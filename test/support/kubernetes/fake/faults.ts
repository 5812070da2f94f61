import type { ClusterFaults } from '../cluster.ts';
import { StatusError } from './status-error.ts';
import type { Watch } from './watching.ts';

/** The parts of the server that faults affect. */
export interface FaultyParts {
  readonly stopListening: () => Promise<void>;
  readonly listenAgain: () => Promise<void>;
  readonly forgetHistory: () => void;
}

const TOO_MANY_REQUESTS = 429;

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The faults of a fake API server, and its requests so far. */
export class Faults implements ClusterFaults {
  readonly requests: ClusterFaults['requests'][number][] = [];
  readonly #parts: FaultyParts;
  readonly #watches = new Set<Watch>();
  #isHanging = false;
  #failing: { readonly status: number; readonly part: number } | undefined;
  /** Sum of the failing parts of all requests; each whole number is a failure. */
  #due = 0;

  constructor(parts: FaultyParts) {
    this.#parts = parts;
  }

  async goAway(): Promise<void> {
    await this.#parts.stopListening();
  }

  /** Requests and watches of this time stay unanswered for ever, as on a half-open connection. */
  hang(): void {
    this.#isHanging = true;
    for (const watch of this.#watches) watch.mute();
  }

  cutWatches(): void {
    for (const watch of this.#watches) watch.cut();
  }

  compact(): void {
    this.#parts.forgetHistory();
  }

  fail(status: number, part: number): void {
    this.#failing = { status, part };
    this.#due = 0;
  }

  async heal(): Promise<void> {
    this.#isHanging = false;
    this.#failing = undefined;
    await this.#parts.listenAgain();
  }

  get isHanging(): boolean {
    return this.#isHanging;
  }

  /** Throws in place of a response, for the part of all requests that is to fail. */
  maybeFail(): void {
    if (this.#failing === undefined) return;
    this.#due += this.#failing.part;
    if (this.#due < 1) return;
    this.#due -= 1;
    const { status } = this.#failing;
    const message = `failing with ${String(status)} on purpose`;
    const details = status === TOO_MANY_REQUESTS ? { retryAfterSeconds: 1 } : undefined;
    throw new StatusError(status, REASONS[status] ?? '', message, details);
  }

  /** Registers a watch until the returned function is called. */
  track(watch: Watch): () => void {
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }
}
