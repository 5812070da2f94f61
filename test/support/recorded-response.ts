import { inspect, isDeepStrictEqual } from 'node:util';

import { MalformedResponseError } from '../../proxy/upstream-client/malformed-response-error.ts';
import type { ResponseListener } from '../../proxy/upstream-client/response-listener.ts';
import { ResponseParser } from '../../proxy/upstream-client/response-parser.ts';

/** What a `ResponseParser` reported of the bytes of a connection. */
export interface RecordedResponse {
  readonly informational: { readonly status: number; readonly fields: readonly string[] }[];
  status?: number;
  reason?: string;
  fields?: readonly string[];
  body: string;
  /** Absent if the response was not whole. */
  trailers?: readonly string[];
  /** Code of the error; absent if the response was whole, or could still become so. */
  refused?: string;
  isReusable: boolean;
}

/** A response on a connection. */
export interface SentResponse {
  /** Of the request; GET without it. */
  readonly method?: string;
  /** In ISO 8859-1. */
  readonly bytes: string;
  /** The connection ends after the bytes. */
  readonly ends?: boolean;
}

/**
 * Records a response that is fed whole, in two parts split at every byte, and byte by byte. Throws if the
 * records differ.
 */
export function recordInEverySplit(sent: SentResponse): RecordedResponse {
  const { bytes } = sent;
  const whole = recordResponse(sent);
  const halves = Array.from(bytes, (_, at) => [bytes.slice(0, at), bytes.slice(at)]);
  for (const parts of [...halves, Array.from(bytes)]) {
    const record = recordResponse(sent, parts);
    if (!isDeepStrictEqual(record, whole)) {
      throw new Error(`split differs: ${inspect({ parts, record, whole })}`);
    }
  }
  return whole;
}

/** Feeds a response to a parser in parts, and records what it reports. Only its own errors are recorded. */
export function recordResponse(
  sent: SentResponse,
  parts: readonly string[] = [sent.bytes],
): RecordedResponse {
  const recorder = new Recorder();
  return recorder.read(new ResponseParser(recorder), sent, parts);
}

/** Records the responses to requests that are sent one after the other on one connection. */
export function recordResponses(sent: readonly SentResponse[]): RecordedResponse[] {
  let recorder = new Recorder();
  const parser = new ResponseParser({
    onInformation: (...report) => recorder.onInformation(...report),
    onHead: (...report) => recorder.onHead(...report),
    onBody: (chunk) => recorder.onBody(chunk),
    onEnd: (trailers) => recorder.onEnd(trailers),
  });
  return sent.map((response) => {
    recorder = new Recorder();
    return recorder.read(parser, response, [response.bytes]);
  });
}

class Recorder implements ResponseListener {
  readonly record: RecordedResponse = { informational: [], body: '', isReusable: false };
  /** Nothing may be reported any more. */
  #isOver = false;

  read(
    parser: ResponseParser,
    { method = 'GET', ends = false }: SentResponse,
    parts: readonly string[],
  ): RecordedResponse {
    const { record } = this;
    parser.expectResponse(method);
    try {
      for (const part of parts) parser.feed(Buffer.from(part, 'latin1'));
      if (ends) parser.finish();
    } catch (error) {
      if (!(error instanceof MalformedResponseError)) throw error;
      // Bytes after a whole response make it no worse.
      if (record.trailers === undefined) record.refused = error.code;
      this.#isOver = true;
      expectSilence(parser);
    }
    record.isReusable = parser.isReusable;
    return record;
  }

  onInformation(status: number, fields: readonly string[]): void {
    this.#check();
    this.record.informational.push({ status, fields });
  }

  onHead(status: number, reason: string, fields: readonly string[]): void {
    this.#check();
    Object.assign(this.record, { status, reason, fields });
  }

  onBody(chunk: Buffer): void {
    this.#check();
    if (chunk.length === 0) throw new Error('an empty part of a body');
    this.record.body += chunk.toString('latin1');
  }

  onEnd(trailers: readonly string[]): void {
    this.#check();
    this.#isOver = true;
    this.record.trailers = trailers;
  }

  #check(): void {
    if (this.#isOver) throw new Error('reported after the end, or after an error');
  }
}

/** Throws if a parser that has refused a response reads another one. */
function expectSilence(parser: ResponseParser): void {
  if (parser.isReusable) throw new Error('the connection would be used again');
  try {
    parser.feed(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na'));
  } catch (error) {
    if (error instanceof MalformedResponseError) return;
    throw error;
  }
  throw new Error('bytes after an error were accepted');
}
