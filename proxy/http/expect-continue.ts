import type { RequestMessage } from './request-message.ts';

type Waiting = Pick<RequestMessage, 'headers'>;

const waiting = new WeakMap<Waiting, () => void>();
const unmet = new WeakSet<Waiting>();

/** Notes that a client expects something else than `100 Continue`, which the gateway cannot meet. */
export function noteUnknownExpectation(message: Waiting): void {
  unmet.add(message);
}

/** Returns whether a message was noted by `noteUnknownExpectation`. */
export function hasUnknownExpectation(message: Waiting): boolean {
  return unmet.has(message);
}

/** Notes that a client waits for `100 Continue` before it sends its body (RFC 9110, 10.1.1). */
export function awaitContinue(message: Waiting, sendContinue: () => void): void {
  waiting.set(message, sendContinue);
}

/**
 * Asks a client that waits for `100 Continue` for its body. Every reader of a body calls this before the
 * first byte; a client that is refused earlier never sends its body.
 */
export function askForBody(message: Waiting): void {
  if (message.headers.expect === undefined) return;
  const sendContinue = waiting.get(message);
  if (sendContinue === undefined) return;
  waiting.delete(message);
  sendContinue();
}
