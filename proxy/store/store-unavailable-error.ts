import { UnavailableError } from '../errors/unavailable-error.ts';

/** The shared store cannot be reached, or answered with a failure; nothing is known of the effect. */
export class StoreUnavailableError extends UnavailableError {
  override readonly name = 'StoreUnavailableError';

  constructor(message: string, cause?: unknown) {
    super('store-unavailable', message, { cause });
  }
}
