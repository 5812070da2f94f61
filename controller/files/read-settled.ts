import { isSameContents, type Contents } from './read-contents.ts';

/** A file that never rests is read all the same. */
const MAX_READS = 5;

export interface SettledReader {
  /** Undefined when there is nothing to read. */
  readonly read: () => Promise<Contents | undefined>;
  /** Waits for writers: readings that it parts and that agree are of a file at rest. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Reads until two readings agree, so that a file that is half written is not taken for a change: it
 * would take routes away for a moment. Undefined when what is found is what is known.
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
