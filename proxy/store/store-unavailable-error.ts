import { UnavailableError } from '../errors/unavailable-error.ts';

/**
 * Thrown if the shared store is unreachable or failed. Whether the operation had an effect is
 * unknown.
 */
export class StoreUnavailableError extends UnavailableError {
  override readonly name = 'StoreUnavailableError';

  constructor(message: string, cause?: unknown) {
    super('store-unavailable', message, { cause });
  }
}
