import { UnavailableError } from '../errors/unavailable-error.ts';

/**
 * Thrown if the shared store is unreachable or failed. The operation may have had an effect.
 */
export class StoreUnavailableError extends UnavailableError {
  override readonly name = 'StoreUnavailableError';

  constructor(message: string, cause?: unknown) {
    super('store-unavailable', message, { cause });
  }
}
