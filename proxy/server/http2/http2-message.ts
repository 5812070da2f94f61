import type { ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';

import type { BodyReceiver } from '../../http/body-receiver.ts';
import { GatheredBytes } from '../../http/gathered-bytes.ts';
import { requestFields, type RequestFields } from '../../http/request-fields.ts';
import type { ConnectionFacts } from '../../http/connection-facts.ts';
import type { RequestMessage } from '../../http/request-message.ts';
import { MAX_HEAD_BYTES } from './http2-settings.ts';
import type { StreamHead } from './stream-head.ts';

/** Unread bytes of a body beyond which the client is granted no more. */
const MAX_UNREAD_BYTES = 16 * 1024;

/**
 * A request of HTTP/2 with its body, which takes little memory while nobody reads it.
 *
 * Attack: Node keeps each part by itself, and a frame of one byte takes some 400 bytes. Therefore the parts
 * are taken from the stream as they arrive, and those that nobody reads are gathered.
 */
export class Http2Message extends Readable implements RequestMessage {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: RequestFields;
  readonly httpVersion = '2.0';
  readonly socket: ConnectionFacts;
  rawTrailers: readonly string[] = [];
  readonly #stream: ServerHttp2Stream;
  /** What arrived while nobody read. */
  #unread: GatheredBytes | undefined;
  /** The reader waits for the next part. */
  #isWanted = false;
  /** Gets the body past the buffers and events of the stream. */
  #receiver: BodyReceiver | undefined;
  /** The client was granted no more. */
  #isStopped = false;
  /** The client has ended the body. */
  #hasArrived = false;
  /** The last part has been passed on. */
  #isComplete = false;
  #receivedBytes = 0;

  static {
    const hasEnded = Reflect.getOwnPropertyDescriptor(Readable.prototype, 'readableEnded')?.get;
    // An accessor of Node that its types call a field, so that `override` is not possible.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: Http2Message): unknown {
        return this.#receiver === undefined ? hasEnded?.call(this) : this.#isComplete;
      },
    });
  }

  constructor(stream: ServerHttp2Stream, head: StreamHead, socket: ConnectionFacts) {
    // One part at a time: the others are gathered.
    super({ autoDestroy: false, highWaterMark: 1 });
    this.#stream = stream;
    this.method = head.method;
    this.url = head.target;
    this.rawHeaders = head.rawHeaders;
    this.headers = requestFields(head.rawHeaders);
    this.socket = socket;
    if (stream.endAfterHeaders) this.#end();
    else this.#takeFrom(stream);
  }

  /** Whether the whole body has arrived. */
  get complete(): boolean {
    return this.#hasArrived;
  }

  /** Number of bytes of the body that have arrived. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Whether the gateway waits for more of the body; false while a slow upstream delays the client. */
  get isAwaited(): boolean {
    return !this.#hasArrived && (this.#receiver !== undefined || this.#isWanted);
  }

  deliverTo(receiver: BodyReceiver): void {
    if (this.destroyed) {
      receiver.onClose();
      return;
    }
    this.#receiver = receiver;
    const part = this.#takeUnread();
    if (part !== undefined) receiver.onPart(part);
    if (this.#isComplete) receiver.onEnd();
    else this.#readOn();
  }

  /** Ends a body whose stream is closed; the reader learns of it if the body is incomplete. */
  close(): void {
    if (this.#isComplete) return;
    this.#receiver?.onClose();
    this.destroy();
  }

  override _read(): void {
    const part = this.#takeUnread();
    if (part === undefined) this.#isWanted = true;
    else this.push(part);
    if (this.#isComplete) this.push(null);
    else this.#readOn();
  }

  #takeFrom(stream: ServerHttp2Stream): void {
    // What came with the head.
    const early = stream.read() as Buffer | null;
    if (early !== null) this.#keep(early);
    const end = stream.push.bind(stream, null);
    stream.push = (part: Buffer | null) => {
      if (part !== null) return this.#receive(part);
      // Attack: Node also ends the body of a stream that its client resets, with the code for "no error".
      if (!stream.closed) this.#hasArrived = true;
      return end();
    };
    stream.once('trailers', (_fields: unknown, _flags: unknown, rawTrailers: readonly string[]) => {
      this.rawTrailers = rawTrailers;
      if (lengthOf(rawTrailers) > MAX_HEAD_BYTES)
        stream.destroy(new Error('the trailers are too long'));
    });
    // After the trailers.
    stream.once('end', () => {
      if (stream.destroyed) return;
      if (!stream.closed) this.#hasArrived = true;
      if (this.#hasArrived) this.#end();
    });
    stream.resume();
  }

  #receive(part: Buffer): boolean {
    this.#receivedBytes += part.length;
    if (this.#receiver !== undefined) {
      this.#receiver.onPart(part);
      return true;
    }
    if (this.#isWanted) this.#pass(part);
    else this.#keep(part);
    const unread = this.readableLength + (this.#unread?.length ?? 0);
    this.#isStopped = !this.#isWanted && unread >= MAX_UNREAD_BYTES;
    return !this.#isStopped;
  }

  #pass(part: Buffer): void {
    this.#isWanted = false;
    this.push(part);
  }

  #keep(part: Buffer): void {
    this.#unread ??= new GatheredBytes();
    this.#unread.add(part);
  }

  #takeUnread(): Buffer | undefined {
    const bytes = this.#unread?.bytes();
    this.#unread = undefined;
    return bytes;
  }

  /** Grants the client more, after a part was not welcome. */
  #readOn(): void {
    if (!this.#isStopped || this.#stream.destroyed) return;
    this.#isStopped = false;
    this.#stream._read(0);
  }

  #end(): void {
    this.#hasArrived = true;
    this.#isComplete = true;
    if (this.#receiver !== undefined) {
      this.#receiver.onEnd();
    } else if (this.#isWanted || this.#unread === undefined) {
      // Otherwise the reader gets what is unread first.
      this.#isWanted = false;
      this.push(null);
    }
  }
}

function lengthOf(fields: readonly string[]): number {
  return fields.reduce((sum, text) => sum + text.length, 0);
}
