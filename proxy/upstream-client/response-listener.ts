/**
 * Receives what a `ResponseParser` reads of one response, in this order: informational heads, the final
 * head, parts of the body, the end. Field lists are flat lists of names and values as they were sent,
 * decoded as ISO 8859-1, without the spaces around values.
 */
export interface ResponseListener {
  /** The head of an informational response (1xx but 101; RFC 9110, section 15.2). */
  onInformation(status: number, rawHeaders: readonly string[]): void;
  /** The head of the final response: status 200 to 599. The reason phrase may be empty. */
  onHead(status: number, reason: string, rawHeaders: readonly string[]): void;
  /** A part of the body, decoded and never empty. It is a view into the bytes fed, valid in the call. */
  onBody(chunk: Buffer): void;
  /** The response is whole. The parser knows by now whether the connection may be used again. */
  onEnd(trailers: readonly string[]): void;
}
