import type { RejectedEntry } from '../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';

/** How far a published resource has got. */
export type RolloutState =
  /** Every proxy that counts has acknowledged it. */
  | { readonly kind: 'programmed' }
  /** Some proxies that count have not acknowledged it yet. */
  | { readonly kind: 'pending'; readonly acknowledged: number; readonly proxies: number }
  /**
   * A proxy that is not draining rejects this content, or that of a Service of the route. That proxy
   * serves what it had before under the key, or nothing; the others serve this content. Without
   * `proxy`: no proxy could take it, so what was published before under the key stays published.
   */
  | { readonly kind: 'rejected'; readonly proxy?: string; readonly message: string }
  /** No proxy counts. */
  | { readonly kind: 'no-proxies' };

/**
 * A proxy as the leader knows it.
 *
 * It counts for `RolloutState` from its first acknowledgement on; a proxy that connected with a snapshot
 * of another leadership counts from its first answer on, or when it is slow to answer. It counts while
 * it is connected and 15 s longer, but never while it drains.
 */
export interface ProxyReport {
  readonly id: string;
  readonly isConnected: boolean;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** The position it acknowledged; undefined: none of this leadership. */
  readonly position: SnapshotPosition | undefined;
  /** Whether it serves the newest snapshot, without rejecting any of it. */
  readonly isSynced: boolean;
  readonly rejected: readonly RejectedEntry[];
}

/** What one leadership publishes, and how the proxies answer. */
export interface Publication {
  readonly position: SnapshotPosition;
  /** Version of the newest snapshot. */
  readonly version: string;
  /** When the newest snapshot was published, in milliseconds since 1970; undefined before the first. */
  readonly publishedAt: number | undefined;
  /** Publishes changes. No proxy is sent a snapshot before the first call. */
  publish(changes: ChangeSet): void;
  /** The resource that is published under a key. */
  find(key: string): SnapshotResource | undefined;
  /**
   * How far the resource that was last passed to `publish` under a key has got; undefined for a key
   * that is not in the snapshot.
   */
  rolloutState(key: string): RolloutState | undefined;
  readonly proxies: readonly ProxyReport[];
  /** The highest number of routes that a proxy reported for a snapshot of another leadership. */
  readonly routesBefore: number;
}

/**
 * Receives the keys whose rollout state may have changed; 'all': of every key; none: only the reports
 * of proxies changed. Called in a turn of the event loop of its own.
 */
export type OnPublicationChange = (keys: ReadonlySet<string> | 'all') => void;
