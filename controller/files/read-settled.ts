import { isSameContents, type Contents } from './read-contents.ts';

/** After this many readings the contents are used even if they still change. */
const MAX_READS = 5;

/** The steps of reading settled contents. */
export interface SettledReader {
  /** Undefined if there is nothing to read. */
  readonly read: () => Promise<Contents | undefined>;
  /** Waits between two readings. If they agree, no writer is at work. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Reads until two readings agree, so that a half-written file does not count as a change: it would
 * remove routes for a moment. Undefined if nothing changed.
 */
export async function readSettled(
  known: Contents,
  { read, pause }: SettledReader,
): Promise<Contents | undefined> {
  let last = await read();
  if (last === undefined || isSameContents(last, known)) return undefined;
  for (let reads = 1; reads < MAX_READS; reads += 1) {
    await pause();
    const next = await read();
    if (next === undefined) return undefined;
    if (isSameContents(next, last)) break;
    last = next;
  }
  return isSameContents(last, known) ? undefined : last;
}
