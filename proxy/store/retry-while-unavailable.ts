import { setTimeout as wait } from 'node:timers/promises';

import { StoreUnavailableError } from './store-unavailable-error.ts';

/** Runs an operation of a store, and retries it while the store is unavailable. */
export async function retryWhileUnavailable<Result>(
  run: () => Promise<Result>,
  { attempts, intervalMs }: { readonly attempts: number; readonly intervalMs: number },
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || attempt === attempts) throw error;
      await wait(intervalMs, undefined, { ref: false });
    }
  }
}
