import { Readable } from 'node:stream';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  LineEncodingError,
  LineTooLongError,
  readLines,
} from '../../../../shared/runtime/read-lines.ts';

const LONGEST = 100;

async function linesOf(chunks: readonly Buffer[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of readLines(Readable.from(chunks), LONGEST)) lines.push(line);
  return lines;
}

describe('the lines of a stream', () => {
  test('are the same wherever chunks begin and end', async () => {
    const lines = fc.array(
      fc.string({ unit: 'grapheme', maxLength: 20 }).filter((line) => !line.includes('\n')),
    );
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 30 }), async (list, size) => {
        const bytes = Buffer.from(list.map((line) => `${line}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );

        expect(await linesOf(chunks)).toEqual(list.map((line) => Buffer.from(line).toString()));
      }),
    );
  });

  test('end with a line feed, and the rest is not a line', async () => {
    expect(await linesOf([Buffer.from('one\ntwo\nthr')])).toEqual(['one', 'two']);
  });

  test('are limited in length, even before their end arrives', async () => {
    const half = Buffer.alloc(LONGEST / 2, 'x');

    expect(await linesOf([half, half, Buffer.from('\n')])).toHaveLength(1);
    await expect(linesOf([half, half, Buffer.from('x')])).rejects.toThrow(LineTooLongError);
  });

  test('are never read with replacement characters', async () => {
    const latin1 = Buffer.from('Geschäft\n', 'latin1');

    await expect(linesOf([latin1])).rejects.toThrow(LineEncodingError);
    expect(await linesOf([Buffer.from('\uFFFD\n')])).toEqual(['\uFFFD']);
  });

  test('are not read before they are asked for', async () => {
    let read = 0;
    const source = new Readable({
      highWaterMark: 1,
      read() {
        read += 1;
        this.push('line\n');
      },
    });
    const lines = readLines(source, LONGEST);
    await lines.next();
    await lines.next();

    expect(read).toBeLessThan(10);
  });
});
