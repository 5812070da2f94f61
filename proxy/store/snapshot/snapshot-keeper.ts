import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { Snapshot } from '../../../shared/snapshot/snapshot.ts';

/** A snapshot, and where it stands. */
export interface PlacedSnapshot {
  readonly position: SnapshotPosition;
  readonly snapshot: Snapshot;
}

/** What became of a snapshot that was to be kept. */
export type SaveOutcome =
  | 'kept'
  /** The same was there already. */
  | 'same'
  /** A newer one is there, and stays. */
  | 'newer';

/**
 * Keeps the last good snapshot outside of the process, sealed: for its next start, or for a new
 * proxy that finds no controller.
 */
export interface SnapshotKeeper {
  /** Keeps it, unless what is kept is not older. Rejects when the place cannot be written. */
  save(placed: PlacedSnapshot): Promise<SaveOutcome>;
  /** What is kept; undefined when there is nothing. Rejects when it cannot be read or opened. */
  load(): Promise<PlacedSnapshot | undefined>;
}
