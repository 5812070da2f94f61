import { GatewayError } from '../../errors/gateway-error.ts';

/**
 * A store has no room for a record that must not be lost, such as a revocation: dropping another
 * one for it would let in what was shut out.
 */
export class StoreFullError extends GatewayError {
  override readonly name = 'StoreFullError';
  override readonly reason = 'store-full';
  override readonly status = 503;

  constructor(store: string) {
    super(`the memory store of ${store} is full`);
  }
}
