import type { RejectedEntry } from '../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';

/** How far a resource of the snapshot has come. */
export type RolloutState =
  /** Every proxy that counts has acknowledged a snapshot with it. */
  | { readonly kind: 'programmed' }
  /** Some have not yet. */
  | { readonly kind: 'pending'; readonly acknowledged: number; readonly proxies: number }
  /**
   * A proxy that does not drain refuses this content, or that of a Service which the route sends
   * requests to. It serves what it had before under the key, or nothing; the others serve this.
   * Without a proxy: none could take it, and what was published before under the key is still.
   */
  | { readonly kind: 'rejected'; readonly proxy?: string; readonly message: string }
  /** There is no proxy that counts. */
  | { readonly kind: 'no-proxies' };

/**
 * A proxy as the leader knows it. It counts for `RolloutState` from its first acknowledgement on; one
 * that came with a snapshot of before, from its first answer on, or when it is slow to give one. It
 * does so while it is connected, and 15 s longer; never while it drains.
 */
export interface ProxyReport {
  readonly id: string;
  readonly isConnected: boolean;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** The snapshot it serves; undefined before it has acknowledged one. */
  readonly position: SnapshotPosition | undefined;
  /** Whether that is the newest, and all of it. */
  readonly isSynced: boolean;
  /** What it refuses. */
  readonly errors: readonly RejectedEntry[];
}

/** What is published, and what the proxies made of it. One for each leadership. */
export interface Publication {
  readonly position: SnapshotPosition;
  /** Hash of the newest content. */
  readonly version: string;
  /** When that was published, in milliseconds since the epoch; undefined before the first. */
  readonly publishedAt: number | undefined;
  /** Takes what changed. Before the first call no proxy gets a snapshot, however long it waits. */
  publish(changes: ChangeSet): void;
  /** The resource that is published under a key. */
  find(key: string): SnapshotResource | undefined;
  /**
   * How far a resource has come, with the hash that was handed to `publish` last under its key;
   * undefined for a key that is not in the snapshot.
   */
  rolloutState(key: string): RolloutState | undefined;
  readonly proxies: readonly ProxyReport[];
  /** The most routes that a proxy said it serves, of a snapshot not ours: what there was before. */
  readonly routesBefore: number;
}

/**
 * Learns of changes. `keys`: whose `rolloutState` may have changed; 'all': anything's; none: only what
 * is known of the proxies. Called in a turn of its own.
 */
export type OnPublicationChange = (keys: ReadonlySet<string> | 'all') => void;
