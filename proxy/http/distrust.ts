import type { RequestMessage } from './request-message.ts';

type Marked = Pick<RequestMessage, 'headers'>;

const distrusted = new WeakSet<Marked>();

/**
 * Marks a message that other servers could frame or address differently. The bytes after it may be a
 * smuggled request, so its connection is closed after the answer.
 */
export function distrust(message: Marked): void {
  distrusted.add(message);
}

/** Returns whether a message was marked by `distrust`. */
export function isDistrusted(message: Marked): boolean {
  return distrusted.has(message);
}
