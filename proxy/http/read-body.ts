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
  return readBodyAs(message, limit, itself, { deadlineMs });
}

/**
 * Reads a body like `readBody`, and resolves with what `make` returns for its bytes. Rejects also with what
 * `make` throws. This costs a promise less than `then`.
 */
export function readBodyAs<Made>(
  message: RequestMessage,
  limit: number,
  make: (bytes: Buffer) => Made,
  { deadlineMs = DEADLINE_MS }: { readonly deadlineMs?: number } = {},
): Promise<Made> {
  const length = Number(message.headers['content-length'] ?? NaN);
  if (length > limit) return Promise.reject(new BodyTooLargeError(limit));
  askForBody(message);
  const reading = new BodyReading(limit, make);
  if (message.deliverTo === undefined) deliverByEvents(message, reading);
  else message.deliverTo(reading);
  reading.limitTime(deadlineMs, length);
  return reading.made;
}

function itself(bytes: Buffer): Buffer {
  return bytes;
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

const SETTLED = Promise.resolve();

/** A body that is being read. */
class BodyReading<Made> implements BodyReceiver {
  readonly #outcome = Promise.withResolvers<Made>();
  readonly #limit: number;
  readonly #make: (bytes: Buffer) => Made;
  /** Absent once the outcome is known. */
  #gathered: GatheredBytes | undefined = new GatheredBytes();
  #deadline: NodeJS.Timeout | undefined;

  constructor(limit: number, make: (bytes: Buffer) => Made) {
    this.#limit = limit;
    this.#make = make;
  }

  get made(): Promise<Made> {
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
    try {
      this.#outcome.resolve(this.#make(bytes));
    } catch (error) {
      this.#outcome.reject(error);
    }
  }

  onClose(): void {
    this.#fail(new ClientGoneError('the client left before its body was whole'));
  }

  /**
   * Begins the time until the deadline, unless all of an announced length arrived with the head, as nearly
   * every body does. Then the end follows at once.
   */
  limitTime(deadlineMs: number, announced: number): void {
    // A connection delivers what it has read before the next microtask, up to the last byte of the body.
    void SETTLED.then(() => {
      if (this.#gathered === undefined || this.#gathered.length === announced) return;
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
