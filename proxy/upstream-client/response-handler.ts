/** Controls the upstream's response to one request, until its end. */
export interface ResponseControl {
  /** Whether no more is read for now. What was received before may still follow, and one more read. */
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** Closes the connection. Nothing more is reported. */
  abort(): void;
}

/**
 * Receives what becomes of one request: `onRequestStart` unless no connection could be made, then the
 * response, then one call of `onResponseEnd` or `onResponseError`. Nothing follows an abort.
 *
 * The control must not be used after the end of the response: the connection may carry another request.
 */
export interface ResponseHandler {
  /** The request is sent next. Returns false if it is not wanted; then nothing is sent or reported. */
  onRequestStart(control: ResponseControl): boolean;
  /** The head of an informational response. Raw headers are a flat list of names and values. */
  onInformation(status: number, rawHeaders: readonly string[]): void;
  /** The head of the final response. An error that is thrown here becomes the response's error. */
  onResponseStart(status: number, reason: string, rawHeaders: readonly string[]): void;
  /**
   * A part of the body. It is valid during the call; and if the response is paused at its end, until it is
   * resumed.
   */
  onResponseData(chunk: Buffer): void;
  onResponseEnd(rawTrailers: readonly string[]): void;
  /** A `ConnectionError`, a `MalformedResponseError`, an error of the body's source or of the handler. */
  onResponseError(error: Error): void;
}
