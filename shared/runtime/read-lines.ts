import { isUtf8 } from 'node:buffer';

const LINE_FEED = 0x0a;

/** Thrown if a line is longer than allowed. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

/** Thrown if a line is not UTF-8. */
export class LineEncodingError extends Error {
  override readonly name = 'LineEncodingError';
}

/**
 * Yields the lines of a stream, without line feeds. Bytes after the last line feed are not a line.
 *
 * Reads no further than needed, and holds at most `maximumBytes` of a line.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maximumBytes: number,
): AsyncGenerator<string, undefined> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      const part = chunk.subarray(start, end === -1 ? undefined : end);
      begunBytes += part.length;
      if (begunBytes > maximumBytes) throw new LineTooLongError('a line is too long');
      begun.push(part);
      if (end === -1) break;
      const line = Buffer.concat(begun);
      if (!isUtf8(line)) throw new LineEncodingError('a line is not UTF-8');
      yield line.toString();
      begun = [];
      begunBytes = 0;
      start = end + 1;
    }
  }
  return undefined;
}
