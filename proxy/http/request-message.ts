import type { Readable } from 'node:stream';

import type { BodyReceiver } from './body-receiver.ts';
import type { ConnectionFacts } from './connection-facts.ts';
import type { RequestFields } from './request-fields.ts';

/**
 * The message of a client: its head, and its unread body as a stream.
 *
 * Node's HTTP/1.1 message has this shape. A listener of another HTTP version fills it with the fields of
 * HTTP/1.1: `Host`, and `Transfer-Encoding` for a body of unknown length.
 */
export interface RequestMessage extends MessageBody {
  /**
   * Delivers the whole body to a receiver without the events of the stream, which cost as much as all checks
   * of a short body. For a body that nothing else reads. Absent on messages of other servers than the gateway's.
   */
  deliverTo?(receiver: BodyReceiver): void;
  readonly method?: string | undefined;
  /** The request target. */
  readonly url?: string | undefined;
  /** By lower-case name; of a repeated field the first line, or all lines joined. */
  readonly headers: RequestFields;
  /** Flat list of names and values as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Trailer fields in the same form; empty until the body has ended. */
  readonly rawTrailers: readonly string[];
  /** `1.0`, `1.1` or `2.0`. */
  readonly httpVersion: string;
  readonly socket: ConnectionFacts;
}

/** The body of a message. Closing it early closes the message. */
export type MessageBody = Pick<
  Readable,
  'on' | 'once' | 'off' | 'pause' | 'resume' | 'destroyed' | 'readableEnded'
>;
