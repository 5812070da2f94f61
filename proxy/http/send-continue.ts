import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Notes that a client waits to be asked for its body (RFC 9110, section 10.1.1). */
export function awaitContinue(message: IncomingMessage): void {
  waiting.add(message);
}

/**
 * Asks for the body of a client that waits for it. For those who are about to read the body: a client
 * that is refused keeps it.
 */
export function sendContinue(message: IncomingMessage, response: ServerResponse): void {
  if (message.headers.expect !== undefined && waiting.delete(message)) response.writeContinue();
}
