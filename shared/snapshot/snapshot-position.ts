/**
 * Where a snapshot stands among all that were ever published. A proxy never goes back.
 *
 * `epoch` belongs to one leadership of one controller; `sequence` counts what it published, from 1.
 */
export interface SnapshotPosition {
  readonly epoch: number;
  readonly sequence: number;
}

/** Negative when `a` is older than `b`, positive when it is newer. */
export function comparePositions(a: SnapshotPosition, b: SnapshotPosition): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

/** `epoch.sequence`, as headers, logs and status have it. */
export function formatPosition({ epoch, sequence }: SnapshotPosition): string {
  return `${String(epoch)}.${String(sequence)}`;
}

/** Reads what `formatPosition` wrote; undefined for anything else. */
export function parsePosition(text: string): SnapshotPosition | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (match === null) return undefined;
  return { epoch: Number(match[1]), sequence: Number(match[2]) };
}
