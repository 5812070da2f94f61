import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';

/** The stores of one proxy, and the time they live in. */
export interface StoresUnderTest extends AsyncDisposable {
  readonly stores: Stores;
  /** Lets time pass for the stores without waiting for it. */
  advance(seconds: number): Promise<void>;
  /** Milliseconds since the epoch, as the stores see it. */
  now(): number;
}

export interface StoreImplementation {
  readonly name: string;
  /** Empty stores of their own for one test. */
  readonly create: () => Promise<StoresUnderTest>;
}

/** Every implementation of the stores. All pass the suites beside this file. */
export const STORE_IMPLEMENTATIONS: readonly StoreImplementation[] = [
  { name: 'memory', create: () => Promise.resolve(memoryStores()) },
];

function memoryStores(): StoresUnderTest {
  let time = Date.UTC(2026, 0, 1);
  return {
    stores: createMemoryStores(() => time),
    advance: (seconds) => {
      time += seconds * 1000;
      return Promise.resolve();
    },
    now: () => time,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Results of fifty calls that run at once. */
export function fiftyAtOnce<Result>(call: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: 50 }, call));
}
