import { UpgradeRelay, type UpgradeExchange } from '../forwarding/upgrade-relay.ts';
import type { UpstreamRequest } from '../forwarding/upstream-request.ts';
import type { Permit } from './permit.ts';

/**
 * Carries a permitted WebSocket connection to its upstream and back, until it is over.
 *
 * Rejects when it never came about: with `UpstreamUnreachableError` or `UpstreamTimeoutError` after
 * the client got 502, 504 or what the upstream answered instead, with `ClientGoneError` when the
 * client left.
 */
export function forwardUpgrade(
  _permit: Permit,
  upstream: UpstreamRequest,
  exchange: UpgradeExchange,
): Promise<void> {
  return new UpgradeRelay(upstream, exchange).run();
}
