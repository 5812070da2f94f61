import type { RequestMessage } from './request-message.ts';

type Marked = Pick<RequestMessage, 'headers'>;

const distrusted = new WeakSet<Marked>();

/**
 * Marks a message that others could frame or address differently than this gateway does. What
 * follows it on its connection may be a smuggled request, so the connection is closed after the
 * answer.
 */
export function distrust(message: Marked): void {
  distrusted.add(message);
}

/** Whether a message was marked so. */
export function isDistrusted(message: Marked): boolean {
  return distrusted.has(message);
}
