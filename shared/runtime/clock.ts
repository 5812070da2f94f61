/**
 * Monotonic time, and timers on it.
 *
 * Everything that measures or waits takes a `Clock`, so that tests can control the time. The wall clock
 * can be set and differs between machines, so it is not used for that.
 */
export interface Clock {
  /** Returns milliseconds since an arbitrary moment. */
  now(): number;
  /** Calls once after that many milliseconds, unless the result is disposed of first. */
  after(ms: number, call: () => void): Disposable;
}

/** The clock of this process. */
export const monotonicClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => setTimeout(call, ms),
};

/** Resolves after that time, or at once when the signal aborts. */
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

/** Calls whenever that time has passed, until the result is disposed of. */
export function every(clock: Clock, ms: number, call: () => void): Disposable {
  const next = (): Disposable =>
    clock.after(ms, () => {
      timer = next();
      call();
    });
  let timer = next();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

/** Settles like `promise`, or rejects after that time. It cancels nothing. */
export async function inTime<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const late = pause(clock, ms, settled.signal).then(() => {
    throw new Error(`no answer in ${String(ms)} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    // It rejects once `settled` aborts, when nobody waits for it.
    late.catch(() => undefined);
    settled.abort();
  }
}
