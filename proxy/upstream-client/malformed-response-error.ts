const SENTENCES = {
  'bad-chunk': 'a chunk is malformed',
  'bad-content-length': 'Content-Length is repeated, or not a whole number',
  'bad-field-name': 'the name of a field is not a token',
  'bad-status': 'the status is not a number from 100 to 599',
  'bad-transfer-encoding': 'the transfer coding is not "chunked" alone',
  'bare-line-break': 'a line does not end in CR and LF',
  'chunked-in-http-1.0': 'a response of HTTP/1.0 cannot be chunked',
  'closing-information': 'an informational response closes the connection',
  'control-character': 'a control character is in the head or the trailers',
  'cut-body': 'the connection ended within the body',
  'cut-head': 'the connection ended within the head',
  'folded-field': 'a field is continued on a second line',
  'framing-in-trailers': 'Content-Length or Transfer-Encoding is in the trailers',
  'length-and-chunks': 'Content-Length and Transfer-Encoding are both there',
  'no-response': 'the connection ended before the response',
  'not-http': 'the response does not begin with HTTP/1.1 or HTTP/1.0',
  'too-large': 'the head or the trailers are too large',
  'too-many-informational': 'too many informational responses came first',
  'unexpected-bytes': 'bytes arrived when no response was expected',
  'unexpected-upgrade': 'the protocol was switched, which was not asked for',
} as const;

/** Why bytes are not a response that everybody reads in the same way. Stable, for logs and tests. */
export type ResponseDefect = keyof typeof SENTENCES;

/** What an upstream sent is not the response that was expected. Its connection must not be used again. */
export class MalformedResponseError extends Error {
  override readonly name = 'MalformedResponseError';
  readonly code: ResponseDefect;

  constructor(code: ResponseDefect) {
    super(SENTENCES[code]);
    this.code = code;
  }
}
