import type { Stores } from '../../proxy/store/stores.ts';

/** The stores of one proxy, and their clock. */
export interface StoresUnderTest extends AsyncDisposable {
  readonly stores: Stores;
  /** Moves the clock of the stores. */
  advance(seconds: number): Promise<void>;
  /** Milliseconds since the epoch, by the clock of the stores. */
  now(): number;
}

export interface StoreImplementation {
  readonly name: string;
  /** Creates empty stores for one test. */
  readonly create: () => Promise<StoresUnderTest>;
  /** Number of writes that shows whether something grows without a limit, or is pushed out by a limit. */
  readonly manyWrites: number;
  /** Number of runs of a property. */
  readonly propertyRuns: number;
}
