/**
 * Position of a snapshot in the order of publication. A proxy never goes back.
 *
 * `epoch` is the term of one leader; `sequence` counts the snapshots that it published, from 1.
 */
export interface SnapshotPosition {
  readonly epoch: number;
  readonly sequence: number;
}

/** Returns a negative number if `a` is older than `b`, a positive one if it is newer. */
export function comparePositions(a: SnapshotPosition, b: SnapshotPosition): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

/** Formats a position as `epoch.sequence`. */
export function formatPosition({ epoch, sequence }: SnapshotPosition): string {
  return `${String(epoch)}.${String(sequence)}`;
}

/** Parses the format of `formatPosition`; undefined for anything else. */
export function parsePosition(text: string): SnapshotPosition | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (match === null) return undefined;
  return { epoch: Number(match[1]), sequence: Number(match[2]) };
}
