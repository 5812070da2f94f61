import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 500;

/** A connection that was opened. */
export interface OpenConnection {
  /** Resolves with the reason when the connection closes. */
  readonly closed: Promise<unknown>;
}

/** Events of a connection that is kept open. No handler may throw. */
export interface KeptOpenEvents<Connection> {
  opened(connection: Connection): void;
  /** The connection closed, or could not be opened. */
  lost(reason: unknown): void;
}

/**
 * Opens a connection, and opens it again whenever it closes or could not be opened.
 *
 * A connection must close when the signal of `open` aborts. Disposing of the result closes it for
 * good.
 */
export function keepOpen<Connection extends OpenConnection>(
  open: (signal: AbortSignal) => Promise<Connection>,
  events: KeptOpenEvents<Connection>,
): AsyncDisposable {
  const ending = new AbortController();
  const ended = reopenUntil(ending.signal, open, events);
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await ended;
    },
  };
}

async function reopenUntil<Connection extends OpenConnection>(
  signal: AbortSignal,
  open: (signal: AbortSignal) => Promise<Connection>,
  events: KeptOpenEvents<Connection>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let reason: unknown;
    try {
      const connection = await open(signal);
      failures = 0;
      events.opened(connection);
      reason = await connection.closed;
    } catch (error) {
      reason = error;
    }
    if (isAborted(signal)) return;
    events.lost(reason);
    await sleep(delayMs(failures), undefined, { signal }).catch(() => undefined);
  }
}

/** A function, because the value changes while the loop waits. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Doubles, and is random, so that proxies that lost Redis at once do not reconnect at once. */
function delayMs(failures: number): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS);
  return longest * (0.5 + Math.random() / 2);
}
