import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { Snapshot } from '../../../shared/snapshot/snapshot.ts';

/** A snapshot and its position. */
export interface PlacedSnapshot {
  readonly position: SnapshotPosition;
  readonly snapshot: Snapshot;
}

/** Outcome of saving a snapshot. */
export type SaveOutcome =
  | 'kept'
  /** The same snapshot was stored already. */
  | 'same'
  /** A newer snapshot is stored, and stays. */
  | 'newer';

/**
 * Stores the last good snapshot outside of the process, sealed: for its next start, or for a new
 * proxy that finds no controller.
 */
export interface SnapshotKeeper {
  /**
   * Stores a snapshot if it is newer than the stored one. Rejects if the place cannot be written.
   */
  save(placed: PlacedSnapshot): Promise<SaveOutcome>;
  /** Returns the stored snapshot, if any. Rejects if it cannot be read or opened. */
  load(): Promise<PlacedSnapshot | undefined>;
}
