import { UnavailableError } from '../../errors/unavailable-error.ts';

/** A revocation or used id ends by itself after minutes; there may be room again before. */
const RETRY_AFTER_SECONDS = 10;

/**
 * A store has no room for a record that must not be lost, such as a revocation: dropping another
 * one for it would let in what was shut out.
 */
export class StoreFullError extends UnavailableError {
  override readonly name = 'StoreFullError';

  constructor(store: string) {
    super('store-full', `the memory store of ${store} is full`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
