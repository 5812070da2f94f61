import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';

import { isRecord } from '../runtime/is-record.ts';
import { describeError } from './describe-error.ts';
import { DescriptorSink } from './descriptor-sink.ts';
import { LineWriter, type LineSink } from './line-writer.ts';

/**
 * Opens the log of the process. When the process ends, lines that were not written yet are written, also after
 * a crash: they say what it did last. A reader that does not read them delays the end by a second at most.
 */
export function openProcessLog(stdout: NodeJS.WritableStream): LineWriter {
  const lines = new LineWriter(sinkOf(stdout));
  process.once('exit', () => lines.end());
  return lines;
}

/** A stream without a descriptor is one of a test. */
function sinkOf(stdout: NodeJS.WritableStream): LineSink {
  if (!('fd' in stdout) || typeof stdout.fd !== 'number') return stdout;
  if (isatty(stdout.fd)) unblock(stdout);
  return new DescriptorSink(stdout.fd, sayUnwritten);
}

const STDERR = 2;

/** Says that the log cannot be written, where that can be said. */
function sayUnwritten(error: unknown): void {
  const text = `the log cannot be written, and lines are lost until it can: ${describeError(error)}\n`;
  try {
    writeSync(STDERR, text);
  } catch {
    // Often it is the same pipe or disk. The metric of dropped lines counts on.
  }
}

/**
 * Makes writes to a terminal return at once. Node has opened pipes and sockets so, but not terminals, and a
 * terminal that was stopped (Ctrl+S) would stop the process.
 */
function unblock(stdout: object): void {
  const handle = '_handle' in stdout ? stdout._handle : undefined;
  if (!isRecord(handle) || typeof handle['setBlocking'] !== 'function') return;
  Reflect.apply(handle['setBlocking'], handle, [false]);
}
