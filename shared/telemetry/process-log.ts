import { LineWriter, type LineSink } from './line-writer.ts';

/**
 * Opens the log of the process. When the process ends, lines that were not written yet are written, also after
 * a crash: they say what it did last.
 */
export function openProcessLog(sink: LineSink): LineWriter {
  const lines = new LineWriter(sink);
  process.once('exit', () => lines.flush());
  return lines;
}
