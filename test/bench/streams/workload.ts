/** Open event streams of each subject. */
export const STREAMS = 2_000;

const EVENT_BYTES = 200;

/** Bytes of a large body, and how its sender divides it. */
export const BODY_BYTES = 100 * 1024 * 1024;
/** A part of a large body; of a chunked one, a chunk. */
export const BODY_PART = Buffer.alloc(64 * 1024, 'x');

/** What the upstream is told by its parent: to send an event to all streams of a path. */
export interface Broadcast {
  readonly path: string;
  /** Stands in the event, so that receivers see whether one is missing. */
  readonly number: number;
}

/** Returns an event of 200 bytes. */
export function eventOf(number: number): string {
  const head = `id: ${String(number)}\ndata: `;
  return `${head.padEnd(EVENT_BYTES - END.length, 'x')}${END}`;
}

/** What ends an event. */
export const END = '\n\n';
