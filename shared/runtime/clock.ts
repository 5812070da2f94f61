/**
 * Time that only goes forward, and timers on it. Clocks on the wall are set, and those of two machines
 * differ: nothing that must be right is measured with them.
 */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Calls once, when that many milliseconds have passed; disposing of it before then prevents that. */
  after(ms: number, call: () => void): Disposable;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => setTimeout(call, ms),
};

/** Resolves when that much time has passed, and at once when the signal is aborted. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal?.aborted === true) return Promise.resolve();
  const timer = clock.after(ms, () => resolve(undefined));
  const interrupt = () => resolve(undefined);
  signal?.addEventListener('abort', interrupt, { once: true });
  return promise.then(() => {
    timer[Symbol.dispose]();
    signal?.removeEventListener('abort', interrupt);
  });
}

/** Settles as `promise` does, and rejects when that takes longer. Nothing is cancelled by that. */
export async function inTime<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const late = pause(clock, ms, settled.signal).then(() => {
    throw new Error(`no answer in ${String(ms)} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    // It rejects now, and nobody listens any more.
    late.catch(() => undefined);
    settled.abort();
  }
}
