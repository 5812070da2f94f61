import type { OutgoingHttpHeaders } from 'node:http';

/** The client's side of an exchange, to which a response is written. */
export interface ClientResponse extends ResponseBody {
  readonly req: { readonly method?: string | undefined };
  readonly headersSent: boolean;
  /** The client understands chunks; an HTTP/1.0 client reads until the end of the connection. */
  readonly canChunk: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /**
   * Begins a response whose head, and whatever parts of the body follow in this turn of the event loop, leave
   * together at its end. `fields` is a flat list of names and values.
   */
  sendHead(status: number, reason: string | undefined, fields: string[]): void;
  /**
   * Sends a part of the body. Returns false if it is not on its way to the client yet: then it must not be
   * changed, and no more should be sent, before `drain` is emitted.
   */
  sendPart(part: Buffer): boolean;
  /** Ends a body that was sent in parts. Only a body in chunks can have trailers. */
  endBody(trailers: readonly [string, string][]): void;
  /** Sends `103 Early Hints` if the client and the transport support them. */
  sendHints(fields: string[]): void;
  /**
   * Breaks off a response so that the client knows that it is incomplete. `endsWithConnection`: only the
   * end of the connection marks the end of the body.
   */
  cutOff(endsWithConnection: boolean): void;
}

/** The end of a response, and what is heard of it. */
interface ResponseBody {
  on(event: ResponseEvent, listener: () => void): unknown;
  once(event: ResponseEvent, listener: () => void): unknown;
  off(event: ResponseEvent, listener: () => void): unknown;
  end(body?: string): unknown;
  /** Breaks off whatever the client has of the response. */
  destroy(): unknown;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** All of the response is on its way to the client. */
  readonly writableFinished: boolean;
}

/** `close`: the exchange with the client is over. `drain`: the next part may be sent. */
type ResponseEvent = 'close' | 'drain';
