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
  /** So many writes in a loop would show what has no bound, or what the bound pushes out. */
  readonly manyWrites: number;
  /** Runs of one property. */
  readonly propertyRuns: number;
}
