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

/** The parts of a race: how to dial, how to ask, and when to dial again. */
export interface Race<Opened extends Destroyable, Answer> {
  /** Opens a connection. Rejects, and leaves nothing open, when the signal aborts. */
  readonly open: (dial: Dial) => Promise<Opened>;
  /** Asks over an open connection. An answer ends the race; a rejection closes the connection. */
  readonly ask: (opened: Opened, dial: Dial) => Promise<Answer>;
  /** Time after which a second dial begins; a third begins twice as long after that, and so on. */
  readonly hedgeMs: number;
  readonly signal: AbortSignal;
}

/**
 * Dials, and dials again while no connection is open; the first answer counts. So a server that
 * hangs behind an address with several costs `hedgeMs` instead of a deadline. Dials become rarer,
 * so that servers without time get little more to do.
 *
 * Open connections are asked one at a time. Rejects as the first dial did once all dials failed,
 * and when the signal aborts.
 */
export async function raceDials<Opened extends Destroyable, Answer>(
  race: Race<Opened, Answer>,
): Promise<Answer> {
  const { open, ask, signal: outer } = race;
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const failures = new Map<number, unknown>();
  let dials = 0;
  let asking = 0;
  let turn: Promise<void> = Promise.resolve();
  const askInTurn = async (opened: Opened, dial: Dial): Promise<void> => {
    try {
      signal.throwIfAborted();
      const answer = await ask(opened, dial);
      over.abort();
      resolve(answer);
    } catch (error) {
      asking -= 1;
      opened.destroy();
      throw error;
    }
  };
  const dial = async (): Promise<void> => {
    const each = { number: dials++, signal };
    try {
      const opened = await open(each);
      asking += 1;
      const answered = turn.then(() => askInTurn(opened, each));
      turn = answered.catch(() => undefined);
      await answered;
    } catch (error) {
      failures.set(each.number, error);
      if (failures.size === dials) reject(failures.get(0));
    }
  };
  let hedge: NodeJS.Timeout | undefined;
  const dialAfter = (ms: number): void => {
    hedge = setTimeout(() => {
      if (asking === 0) void dial();
      dialAfter(2 * ms);
    }, ms);
  };
  dialAfter(race.hedgeMs);
  try {
    void dial();
    return await promise;
  } finally {
    clearTimeout(hedge);
  }
}
