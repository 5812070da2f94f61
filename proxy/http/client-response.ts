import type { OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';

/** The client's side of an exchange, to which a response is written. */
export interface ClientResponse extends ResponseBody {
  readonly req: { readonly method?: string | undefined };
  readonly headersSent: boolean;
  /** The client understands chunks; an HTTP/1.0 client reads until the end of the connection. */
  readonly canChunk: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /** `fields` is a flat list of names and values. */
  writeHead(status: number, reason: string | undefined, fields: string[]): unknown;
  /** Sends the head now, and not with the first bytes of the body. */
  flushHeaders(): void;
  /** Sends a part of the body. Returns false if the client is slow: `drain` is emitted when it has read. */
  writePart(part: Buffer): boolean;
  /** Sends the last part of the body, if there is one, and the end. Trailers need a body in chunks. */
  endBody(last: Buffer | undefined, trailers: readonly [string, string][]): void;
  /** Sends `103 Early Hints` if the client and the transport support them. */
  sendHints(fields: string[]): void;
  /**
   * Breaks off a response so that the client knows that it is incomplete. `endsWithConnection`: only the
   * end of the connection marks the end of the body.
   */
  cutOff(endsWithConnection: boolean): void;
}

/** The body of a response. */
type ResponseBody = Pick<
  Writable,
  'on' | 'once' | 'off' | 'end' | 'destroy' | 'destroyed' | 'writableEnded' | 'writableFinished'
>;
