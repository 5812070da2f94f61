import type { RejectedEntry, UpstreamAuthFailure } from '../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';
import type { Revision } from './content/revision-history.ts';

/** How far the proxies have got with a published resource. */
export type RolloutState =
  /** Every proxy that counts has acknowledged it. */
  | { readonly kind: 'programmed' }
  /** Some proxies that count have not acknowledged it yet. */
  | { readonly kind: 'pending'; readonly acknowledged: number; readonly proxies: number }
  /**
   * A proxy that is not draining rejects this content, or the content of a Service of the route. That
   * proxy serves its earlier content of the key, or nothing; the others serve this content. Without
   * `proxy`: no proxy could accept it, so the earlier content of the key stays published.
   */
  | { readonly kind: 'rejected'; readonly proxy?: string; readonly message: string }
  /** No proxy counts. */
  | { readonly kind: 'no-proxies' };

/**
 * A proxy as the leader knows it.
 *
 * It counts for `RolloutState` from its first acknowledgement on. If it connected with a snapshot of
 * another leadership, it counts from its first answer on, or once it is slow to answer. It counts while
 * it is connected and 15 s longer, but never while it drains.
 */
export interface ProxyReport {
  readonly id: string;
  readonly isConnected: boolean;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** The position it acknowledged; undefined if that is of another leadership. */
  readonly position: SnapshotPosition | undefined;
  /** How long the oldest snapshot that it has not acknowledged waits for it, in milliseconds. */
  readonly lagMs: number;
  /** Whether it serves the newest snapshot, without rejecting any of it. */
  readonly isSynced: boolean;
  readonly rejected: readonly RejectedEntry[];
}

/** What a proxy found out last about the upstream of a route. */
export interface UpstreamAuthState {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** Absent if users can connect. */
  readonly failure?: UpstreamAuthFailure;
}

/** The published content of one leadership, and how far the proxies have got with it. */
export interface Publication {
  readonly position: SnapshotPosition;
  /** Version of the newest snapshot. */
  readonly version: string;
  /** When the newest snapshot was published, in milliseconds since 1970; undefined before the first. */
  readonly publishedAt: number | undefined;
  /** Publishes changes, in their trace. No proxy is sent a snapshot before the first call. */
  publish(changes: ChangeSet, trace?: Trace): void;
  /** The resource that is published under a key. */
  find(key: string): SnapshotResource | undefined;
  /**
   * The rollout state of the resource that was last passed to `publish` under a key; undefined for a
   * key that is not in the snapshot.
   */
  rolloutState(key: string): RolloutState | undefined;
  /** What a proxy found out last about the upstream of a route; undefined if nothing is known. */
  upstreamAuth(key: string): UpstreamAuthState | undefined;
  readonly proxies: readonly ProxyReport[];
  /** The highest number of routes that a proxy reported for a snapshot of another leadership. */
  readonly routesBefore: number;
}

/**
 * Receives the keys with a possibly changed rollout state or upstream. 'all' stands for every key; an empty set
 * means that only the reports of proxies changed. Called in a separate turn of the event loop.
 */
export type OnPublicationChange = (keys: ReadonlySet<string> | 'all') => void;

/** What changed with a published snapshot. */
export interface PublishedRevision extends Pick<Revision, 'position' | 'version' | 'changes'> {
  /** Whether a key has content; a changed key without is removed. */
  readonly has: (key: string) => boolean;
}

/** Receives each change that is published, before proxies get it. */
export type OnPublished = (revision: PublishedRevision, trace: TraceContext | undefined) => void;
