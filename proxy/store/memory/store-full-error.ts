import { UnavailableError } from '../../errors/unavailable-error.ts';

/** Revocations and used ids expire after minutes; there may be room before that. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Thrown if a store has no room for a record that must not be lost, such as a revocation. Dropping
 * another revocation instead would make the revoked token valid again.
 */
export class StoreFullError extends UnavailableError {
  override readonly name = 'StoreFullError';

  constructor(store: string) {
    super('store-full', `the memory store of ${store} is full`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
