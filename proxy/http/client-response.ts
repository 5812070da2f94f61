import type { OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';

/** The client's side of an exchange: what a response is written to. */
export interface ClientResponse extends ResponseBody {
  readonly req: { readonly method?: string | undefined };
  readonly headersSent: boolean;
  /** The client understands a body of unknown length; one of HTTP/1.0 reads to the connection's end. */
  readonly canChunk: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /** `fields` is a flat list of names and values. */
  writeHead(status: number, reason: string | undefined, fields: string[]): unknown;
  /** Sends the head now, and not with the first bytes of the body. */
  flushHeaders(): void;
  addTrailers(trailers: readonly [string, string][]): void;
  /** Sends `103 Early Hints` where the client and the transport can have them. */
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
  | 'on'
  | 'once'
  | 'off'
  | 'write'
  | 'end'
  | 'destroy'
  | 'destroyed'
  | 'writableEnded'
  | 'writableFinished'
>;
