import { BodyTooLargeError, BodyTooSlowError, ClientGoneError } from '../errors/request-errors.ts';
import { askForBody } from './expect-continue.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import type { RequestMessage } from './request-message.ts';

/** Deadline of a body that is read whole; until then a slow one holds its connection and memory. */
const DEADLINE_MS = 30_000;

/**
 * Reads a whole request body of at most `limit` bytes. A client that waits for `100 Continue` is asked for
 * its body.
 *
 * Rejects as soon as a body is known to be longer: before the first byte, if the `Content-Length` shows it.
 * Rejects also if the body is not complete by the deadline.
 */
export function readBody(
  message: RequestMessage,
  limit: number,
  { deadlineMs = DEADLINE_MS }: { readonly deadlineMs?: number } = {},
): Promise<Buffer> {
  if (announcesMoreThan(limit, message)) return Promise.reject(new BodyTooLargeError(limit));
  // A message that was closed before emits nothing more.
  if (message.destroyed) return Promise.reject(clientGone());
  askForBody(message);
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    const stop = (finish: () => void): void => {
      clearTimeout(deadline);
      message.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      if (gathered.length + chunk.length > limit) stop(() => reject(new BodyTooLargeError(limit)));
      else gathered.add(chunk);
    };
    const onEnd = (): void => {
      stop(() => resolve(gathered.bytes()));
    };
    const onClose = (): void => {
      stop(() => reject(clientGone()));
    };
    const deadline = setTimeout(() => {
      stop(() => reject(new BodyTooSlowError()));
    }, deadlineMs);
    message.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function clientGone(): ClientGoneError {
  return new ClientGoneError('the client left before its body was whole');
}

/** Returns whether a body is too long by its Content-Length, so that it need not be asked for. */
function announcesMoreThan(limit: number, { headers }: Pick<RequestMessage, 'headers'>): boolean {
  return Number(headers['content-length'] ?? 0) > limit;
}
