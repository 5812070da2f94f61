import { OutboundFailedError } from './outbound-errors.ts';

/** Rejects with an `OutboundFailedError` once the signal is aborted: the work goes on, but nothing waits for it. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolveValue, reject) => {
    const onAbort = (): void => {
      reject(new OutboundFailedError('aborted', 'given up'));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const stopListening = (): void => {
      signal.removeEventListener('abort', onAbort);
    };
    work.finally(stopListening).then(resolveValue, reject);
  });
}
