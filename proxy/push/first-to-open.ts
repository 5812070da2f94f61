/** Something open that can be closed at once. */
interface Destroyable {
  destroy(): void;
}

/** Opens one; `turn` counts from 0. It rejects when the signal aborts, and leaves nothing open then. */
type Open<Opened> = (turn: number, signal: AbortSignal) => Promise<Opened>;

/**
 * Opens one, and another one for every `hedgeMs` that pass without an answer; what is open first is
 * kept. So an address behind which one of several hangs costs `hedgeMs` instead of a deadline.
 *
 * Rejects with the first failure when none is under way any more, and when the signal aborts.
 */
export async function firstToOpen<Opened extends Destroyable>(
  open: Open<Opened>,
  { hedgeMs, signal }: { readonly hedgeMs: number; readonly signal: AbortSignal },
): Promise<Opened> {
  const over = new AbortController();
  const race = AbortSignal.any([signal, over.signal]);
  const { promise, resolve, reject } = Promise.withResolvers<Opened>();
  const failures: unknown[] = [];
  let turns = 0;
  const begin = async (): Promise<void> => {
    try {
      const opened = await open(turns++, race);
      if (over.signal.aborted) opened.destroy();
      over.abort();
      resolve(opened);
    } catch (error) {
      failures.push(error);
      if (failures.length === turns) reject(failures[0]);
    }
  };
  const hedge = setInterval(() => void begin(), hedgeMs);
  try {
    void begin();
    return await promise;
  } finally {
    clearInterval(hedge);
  }
}
