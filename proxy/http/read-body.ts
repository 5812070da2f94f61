import { BodyTooLargeError, BodyTooSlowError, ClientGoneError } from '../errors/request-errors.ts';
import type { BodyReceiver } from './body-receiver.ts';
import { askForBody } from './expect-continue.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import type { MessageBody, RequestMessage } from './request-message.ts';

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
  askForBody(message);
  const reading = new BodyReading(limit);
  if (message.deliverTo === undefined) deliverByEvents(message, reading);
  else message.deliverTo(reading);
  reading.limitTime(deadlineMs);
  return reading.bytes;
}

/** Delivers a body by the events of its stream. After the end, `onClose` is called too. */
function deliverByEvents(message: MessageBody, receiver: BodyReceiver): void {
  // A message that was closed before emits nothing more.
  if (message.destroyed) {
    receiver.onClose();
    return;
  }
  const onClose = (): void => receiver.onClose();
  message.on('data', (part: Buffer) => receiver.onPart(part)).on('end', () => receiver.onEnd());
  message.on('close', onClose).on('error', onClose);
}

/** A body that is being read. */
class BodyReading implements BodyReceiver {
  readonly #outcome = Promise.withResolvers<Buffer>();
  readonly #limit: number;
  /** Absent once the outcome is known. */
  #gathered: GatheredBytes | undefined = new GatheredBytes();
  #deadline: NodeJS.Timeout | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): Promise<Buffer> {
    return this.#outcome.promise;
  }

  onPart(part: Buffer): void {
    if (this.#gathered === undefined) return;
    if (this.#gathered.length + part.length <= this.#limit) this.#gathered.add(part);
    else this.#fail(new BodyTooLargeError(this.#limit));
  }

  onEnd(): void {
    const bytes = this.#gathered?.bytes();
    if (bytes === undefined) return;
    this.#stop();
    this.#outcome.resolve(bytes);
  }

  onClose(): void {
    this.#fail(new ClientGoneError('the client left before its body was whole'));
  }

  /** Begins the time until the deadline, unless the body arrived with its head, as nearly every one does. */
  limitTime(deadlineMs: number): void {
    // A connection delivers all that it has read before the next microtask.
    void Promise.resolve().then(() => {
      if (this.#gathered === undefined) return;
      this.#deadline = setTimeout(() => this.#fail(new BodyTooSlowError()), deadlineMs);
    });
  }

  #fail(error: Error): void {
    if (this.#gathered === undefined) return;
    this.#stop();
    this.#outcome.reject(error);
  }

  #stop(): void {
    this.#gathered = undefined;
    clearTimeout(this.#deadline);
  }
}

/** Returns whether a body is too long by its Content-Length, so that it need not be asked for. */
function announcesMoreThan(limit: number, { headers }: Pick<RequestMessage, 'headers'>): boolean {
  return Number(headers['content-length'] ?? 0) > limit;
}
