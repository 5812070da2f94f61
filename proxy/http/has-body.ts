import type { IncomingMessage } from 'node:http';

/** Whether a request message announces a body of at least one byte. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > 0;
}
