import { BodyTooLargeError, BodyTooSlowError, ClientGoneError } from '../errors/request-errors.ts';
import { askForBody } from './expect-continue.ts';
import type { RequestMessage } from './request-message.ts';

/** For a body that is read whole: what trickles in longer holds its connection and memory. */
const DEADLINE_MS = 30_000;

/**
 * Reads a whole request body of at most `limit` bytes.
 *
 * A longer one is refused as soon as that is known: by its Content-Length before a byte is read. One
 * that is not whole within the deadline is refused then.
 */
export function readBody(
  message: RequestMessage,
  limit: number,
  { deadlineMs = DEADLINE_MS }: { readonly deadlineMs?: number } = {},
): Promise<Buffer> {
  if (announcesMoreThan(limit, message)) return Promise.reject(new BodyTooLargeError(limit));
  askForBody(message);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(deadline);
      message.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) settle(() => reject(new BodyTooLargeError(limit)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    };
    const onClose = (): void => {
      settle(() => reject(new ClientGoneError('the client left before its body was whole')));
    };
    const deadline = setTimeout(() => {
      settle(() => reject(new BodyTooSlowError()));
    }, deadlineMs);
    message.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Whether a body is too long by its own account: nobody needs to be asked for it. */
function announcesMoreThan(limit: number, { headers }: Pick<RequestMessage, 'headers'>): boolean {
  return Number(headers['content-length'] ?? 0) > limit;
}
