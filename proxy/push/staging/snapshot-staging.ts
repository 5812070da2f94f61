import { SnapshotDigest } from '../../../shared/snapshot/snapshot-digest.ts';
import { DamagedResourceError, parseResource } from '../../../shared/snapshot/parse-resource.ts';
import type {
  BeginFrame,
  CommitFrame,
  DeleteFrame,
  KeepFrame,
  RejectedEntry,
} from '../../../shared/snapshot/push-frames.ts';
import {
  comparePositions,
  formatPosition,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { Snapshot, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import {
  changesBetween,
  type ResourceChange,
  type SnapshotDifference,
} from '../../configuration/snapshot-changes.ts';
import type { PlacedSnapshot } from '../../store/snapshot/snapshot-keeper.ts';
import { displacedRoutes } from './displaced-routes.ts';
import { invalidResource } from './invalid-resource.ts';
import type { ReceivedPut } from './received-frame.ts';
import type { RoutesByHost } from './routes-by-host.ts';

/** Limit on one snapshot: far above any real one, and below the memory of a process. */
const MAXIMUM_STAGED_BYTES = 512 * 1024 * 1024;

/** A snapshot that serves, with its digest. */
export interface DigestedSnapshot extends PlacedSnapshot {
  readonly digest: SnapshotDigest;
}

/** A snapshot that was received completely. */
export interface Complete {
  readonly kind: 'complete';
  readonly snapshot: DigestedSnapshot;
  /** Difference from the snapshot that it was staged on. */
  readonly difference: SnapshotDifference;
}

/** Outcome of staging a snapshot. */
export type Staged =
  Complete | { readonly kind: 'rejected'; readonly errors: readonly RejectedEntry[] };

/** Prepares a snapshot for staging the next one on it. */
export function withDigest(placed: PlacedSnapshot): DigestedSnapshot {
  return { ...placed, digest: SnapshotDigest.of(placed.snapshot.resources.values()) };
}

/**
 * A snapshot that is being received, frame by frame. The snapshot that serves is not changed:
 * readers see the new one whole or not at all.
 *
 * A resource with an unchanged hash stays the same object as in the snapshot that serves, also when
 * it is sent again.
 */
export class SnapshotStaging {
  readonly position: SnapshotPosition;
  readonly #serving: DigestedSnapshot | undefined;
  readonly #routesServing: RoutesByHost;
  /** Whether the frames change the snapshot that serves; otherwise they are the whole snapshot. */
  readonly #isDelta: boolean;
  readonly #count: number;
  readonly #resources: Map<string, SnapshotResource>;
  readonly #digest: SnapshotDigest;
  readonly #seen = new Set<string>();
  /** Resources that were sent. */
  readonly #put = new Map<string, SnapshotResource>();
  readonly #errors: RejectedEntry[] = [];
  /** Why the whole snapshot is rejected: then its resources are not checked. */
  #rejection: RejectedEntry | undefined;
  #stagedBytes = 0;

  constructor(
    { epoch, seq, base, count }: BeginFrame,
    serving: DigestedSnapshot | undefined,
    routesServing: RoutesByHost,
  ) {
    this.position = { epoch, sequence: seq };
    this.#serving = serving;
    this.#routesServing = routesServing;
    this.#count = count;
    this.#rejection = rejectionOf(this.position, base, serving);
    this.#isDelta = base !== null && this.#rejection === undefined;
    const basis = this.#isDelta ? serving : undefined;
    this.#resources = new Map(basis?.snapshot.resources);
    this.#digest = basis?.digest.fork() ?? new SnapshotDigest();
  }

  /** Adds or replaces a resource; `bytes` is the length of the frame. */
  put({ k, h, v }: ReceivedPut, bytes: number): void {
    if (!this.#isExpected(k, bytes)) return;
    const resource = this.#serving?.snapshot.resources.get(k);
    if (resource?.hash === h) this.#add(resource);
    else this.#parse(k, h, v);
  }

  /** Keeps a resource that serves. */
  keep({ k, h }: KeepFrame, bytes: number): void {
    if (!this.#isExpected(k, bytes)) return;
    const resource = this.#serving?.snapshot.resources.get(k);
    if (resource?.hash === h) this.#set(resource);
    else this.#errors.push(broken(k, 'this resource does not serve'));
  }

  /** Removes a resource. */
  delete({ k }: DeleteFrame, bytes: number): void {
    if (!this.#isExpected(k, bytes)) return;
    if (!this.#resources.delete(k)) this.#errors.push(broken(k, 'there is no such resource'));
    this.#digest.delete(k);
  }

  /** Completes the snapshot; returns it, or every reason to reject it. */
  commit({ version: expected }: CommitFrame): Staged {
    const errors = this.#rejection === undefined ? this.#errors : [this.#rejection];
    if (errors.length > 0) return { kind: 'rejected', errors };
    if (this.#seen.size !== this.#count) {
      return rejectedWhole(
        `${String(this.#count)} changes were announced, ${String(this.#seen.size)} were sent`,
      );
    }
    const staged = { put: this.#put, resources: this.#resources };
    const displaced = displacedRoutes(staged, this.#serving?.snapshot, this.#routesServing);
    if (displaced.length > 0) return { kind: 'rejected', errors: displaced.map(unfit) };
    const version = this.#digest.version();
    if (version !== expected) return rejectedWhole('the version does not match the resources');
    const served = this.#serving?.snapshot;
    const snapshot = version === served?.version ? served : { version, resources: this.#resources };
    return {
      kind: 'complete',
      snapshot: { position: this.position, snapshot, digest: this.#digest },
      difference: { since: served, changes: this.#changesTo(snapshot) },
    };
  }

  /** Compares only the resources that were sent if all others are unchanged. */
  #changesTo(snapshot: Snapshot): readonly ResourceChange[] {
    const served = this.#serving?.snapshot;
    if (!this.#isDelta) return changesBetween(served, snapshot);
    return [...this.#seen].flatMap((key) => {
      const [before, after] = [served?.resources.get(key), snapshot.resources.get(key)];
      return before === after ? [] : [{ before, after }];
    });
  }

  #isExpected(key: string, bytes: number): boolean {
    this.#stagedBytes += bytes;
    this.#rejection ??= this.#excess();
    if (this.#rejection !== undefined) return false;
    if (!this.#seen.has(key)) {
      this.#seen.add(key);
      return true;
    }
    this.#errors.push(broken(key, 'was sent twice'));
    return false;
  }

  #excess(): RejectedEntry | undefined {
    if (this.#stagedBytes > MAXIMUM_STAGED_BYTES) return broken('', 'is too large');
    if (this.#seen.size >= this.#count) return broken('', 'has more changes than were announced');
    return undefined;
  }

  #add(resource: SnapshotResource): void {
    this.#put.set(resource.key, resource);
    this.#set(resource);
  }

  #set(resource: SnapshotResource): void {
    this.#resources.set(resource.key, resource);
    this.#digest.put(resource.key, resource.hash);
  }

  #parse(key: string, hash: string, value: unknown): void {
    try {
      this.#add(parseResource({ key, hash, value }));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { message } = error;
      const isDamaged = error instanceof DamagedResourceError;
      this.#errors.push(
        isDamaged ? broken(key, message) : invalidResource(key, message, this.#serving),
      );
    }
  }
}

function rejectionOf(
  position: SnapshotPosition,
  base: string | null,
  serving: DigestedSnapshot | undefined,
): RejectedEntry | undefined {
  if (serving !== undefined && comparePositions(position, serving.position) <= 0) {
    return { key: '', reason: 'StalePosition', message: formatPosition(serving.position) };
  }
  if (base !== null && base !== serving?.snapshot.version) {
    return {
      key: '',
      reason: 'UnknownBase',
      message: 'this proxy does not serve the base snapshot',
    };
  }
  return undefined;
}

function rejectedWhole(message: string): Staged {
  return { kind: 'rejected', errors: [broken('', message)] };
}

/** Returns the rejection of a route: another route got the address of its served content. */
function unfit(key: string): RejectedEntry {
  const message = 'the address of its served content now belongs to another route';
  return { key, reason: 'InvalidResource', message };
}

function broken(key: string, message: string): RejectedEntry {
  return { key, reason: 'BrokenSnapshot', message };
}
