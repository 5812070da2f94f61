import type { IncomingMessage } from 'node:http';

const distrusted = new WeakSet<IncomingMessage>();

/**
 * Marks a message that others could frame or address differently than this gateway does. What
 * follows it on its connection may be a smuggled request, so the connection is closed after the
 * answer.
 */
export function distrust(message: IncomingMessage): void {
  distrusted.add(message);
}

/** Whether a message was marked so. */
export function isDistrusted(message: IncomingMessage): boolean {
  return distrusted.has(message);
}
