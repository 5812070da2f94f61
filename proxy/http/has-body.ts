import type { RequestMessage } from './request-message.ts';

/** Returns whether a request announces a body of at least one byte. */
export function hasBody({ headers }: Pick<RequestMessage, 'headers'>): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > 0;
}
