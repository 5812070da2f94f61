import type { Clock } from '../../../shared/runtime/clock.ts';

/** An open connection that can be closed at once. */
interface Destroyable {
  destroy(): void;
}

/** One dial of a race; the first has number 0. */
export interface Dial {
  readonly number: number;
  /** Aborts when the race ends. */
  readonly signal: AbortSignal;
}

/** Options of `raceDials`: functions that dial and ask, and the time of further dials. */
export interface Race<Opened extends Destroyable, Answer> {
  /** Opens a connection. Rejects, and leaves nothing open, when the signal aborts. */
  readonly open: (dial: Dial) => Promise<Opened>;
  /** Asks over an open connection. An answer ends the race; a rejection closes the connection. */
  readonly ask: (opened: Opened, dial: Dial) => Promise<Answer>;
  /** Time after which a second dial begins; a third begins twice as long after that, and so on. */
  readonly hedgeMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Dials, and dials again while no connection is open; the first answer counts. If one of several
 * servers behind an address hangs, this costs `hedgeMs` and not the whole deadline. Dials become
 * rarer, so that busy servers get little additional work.
 *
 * Open connections are asked one at a time. Rejects with the error of the first dial once all dials
 * have failed.
 */
export async function raceDials<Opened extends Destroyable, Answer>(
  race: Race<Opened, Answer>,
): Promise<Answer> {
  return await new DialRace(race).run();
}

class DialRace<Opened extends Destroyable, Answer> {
  readonly #race: Race<Opened, Answer>;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #answer = Promise.withResolvers<Answer>();
  readonly #failures = new Map<number, unknown>();
  #dials = 0;
  /** Number of open connections, which are asked or wait for their turn. */
  #open = 0;
  /** Resolves when the previous connection was asked. */
  #turn: Promise<void> = Promise.resolve();
  #hedge: Disposable | undefined;

  constructor(race: Race<Opened, Answer>) {
    this.#race = race;
    this.#signal = AbortSignal.any([race.signal, this.#over.signal]);
  }

  async run(): Promise<Answer> {
    this.#dialAfter(this.#race.hedgeMs);
    try {
      void this.#dial();
      return await this.#answer.promise;
    } finally {
      this.#hedge?.[Symbol.dispose]();
    }
  }

  #dialAfter(ms: number): void {
    this.#hedge = this.#race.clock.after(ms, () => {
      if (this.#open === 0) void this.#dial();
      this.#dialAfter(2 * ms);
    });
  }

  async #dial(): Promise<void> {
    const dial = { number: this.#dials++, signal: this.#signal };
    try {
      const opened = await this.#race.open(dial);
      this.#open += 1;
      const answered = this.#turn.then(() => this.#ask(opened, dial));
      this.#turn = answered.catch(() => undefined);
      await answered;
    } catch (error) {
      this.#failures.set(dial.number, error);
      if (this.#failures.size === this.#dials) this.#answer.reject(this.#failures.get(0));
    }
  }

  async #ask(opened: Opened, dial: Dial): Promise<void> {
    try {
      this.#signal.throwIfAborted();
      const answer = await this.#race.ask(opened, dial);
      this.#over.abort();
      this.#answer.resolve(answer);
    } catch (error) {
      this.#open -= 1;
      opened.destroy();
      throw error;
    }
  }
}
