import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';

/** A request to send. The client writes `Host` and all fields that frame the message itself. */
export interface OutgoingRequest {
  readonly method: string;
  /** Raw path and query. */
  readonly path: string;
  /** Value of `Host`. */
  readonly host: string;
  /** Flat list of names and values, without fields that are about framing or the connection. */
  readonly headers: readonly string[];
  /** Bytes that are sent with the head, a stream, or nothing. */
  readonly body: Buffer | StreamedBody | undefined;
  /** How long the response may take to begin once the request is sent; 0 is no limit. */
  readonly responseTimeoutMs: number;
}

/** A body that is read while it is sent. */
export interface StreamedBody {
  readonly source: BodySource;
  /** Number of its bytes. Without it, the body is sent in chunks. */
  readonly length?: number;
  /** The trailer fields of a chunked body. */
  readonly trailers?: {
    /** Value of `Trailer`; empty if it is not sent. */
    readonly announced: string;
    /** Returns names and values, once the body has ended. */
    read(): readonly (readonly [string, string])[];
  };
}

/**
 * Where a body comes from. It is never destroyed: what is not sent is read and discarded. Its parts belong to
 * the client, which frees their memory when they have left.
 */
export type BodySource = Pick<
  Readable,
  'on' | 'off' | 'pause' | 'resume' | 'destroyed' | 'readableEnded'
>;

/** Methods whose requests have a body by definition, so that an empty one is announced too. */
const WITH_BODY: ReadonlySet<string> = new Set([
  'PATCH',
  'POST',
  'PROPFIND',
  'PROPPATCH',
  'PUT',
  'QUERY',
]);

/** Returns whether the meaning of a request includes its body. */
export function expectsBody(method: string): boolean {
  return WITH_BODY.has(method);
}

/**
 * Returns whether a connection can take another request after this one. Attack: a server that ignores the
 * body of a GET reads it as the next request; and one that sends a body after HEAD, as the next response.
 */
export function allowsReuse({ method, body }: Pick<OutgoingRequest, 'method' | 'body'>): boolean {
  if (method === 'HEAD') return false;
  return expectsBody(method) || body === undefined || (Buffer.isBuffer(body) && body.length === 0);
}
