import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { OutboundFailedError, OutboundRefusedError } from '../../outbound/outbound-errors.ts';
import { ExpiringMap } from '../../cache/expiring-map.ts';

const MAX_AT_ONCE = 16;

const MAX_FAILURES = 1000;

/**
 * How long an address that did not respond is not fetched again. Error responses are never remembered, as
 * the draft of metadata documents demands: this only spares servers that are down.
 */
const FAILURE_SECONDS = 5;

/**
 * Bounds the fetches of addresses that strangers choose: only a few run at once, and one more fails
 * instead of waiting.
 */
export function boundedFetch(guardedFetch: GuardedFetch, now: () => number): GuardedFetch {
  const failures = new ExpiringMap<Error>(now, MAX_FAILURES);
  let underWay = 0;
  return async (url, options) => {
    const failure = failures.get(url);
    if (failure !== null) throw failure;
    if (underWay >= MAX_AT_ONCE) {
      throw new OutboundFailedError('aborted', 'too many documents are being fetched already');
    }
    underWay += 1;
    try {
      return await guardedFetch(url, options);
    } catch (error) {
      if (isAddressFailure(error)) failures.set(url, error, FAILURE_SECONDS);
      throw error;
    } finally {
      underWay -= 1;
    }
  };
}

function isAddressFailure(error: unknown): error is Error {
  if (error instanceof OutboundRefusedError) return true;
  if (!(error instanceof OutboundFailedError)) return false;
  return error.kind === 'connection' || error.kind === 'dns' || error.kind === 'timeout';
}
