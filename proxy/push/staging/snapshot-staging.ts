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
import type { ReceivedPut } from './parse-controller-frame.ts';
import type { RoutesByHost } from './routes-by-host.ts';

/** What one snapshot may bring. Far more than any has, and less than a process has memory. */
const MAXIMUM_STAGED_BYTES = 512 * 1024 * 1024;

/** A snapshot that serves, and the lines of its version. */
export interface ServedSnapshot extends PlacedSnapshot {
  readonly digest: SnapshotDigest;
}

/** A snapshot that came whole. */
export interface Complete {
  readonly kind: 'complete';
  readonly snapshot: ServedSnapshot;
  /** From the one that it was staged on. */
  readonly difference: SnapshotDifference;
}

/** What became of a snapshot that was staged. */
export type Staged =
  Complete | { readonly kind: 'refused'; readonly errors: readonly RejectedEntry[] };

/** Makes a snapshot one to stage others on. */
export function servedSnapshot(placed: PlacedSnapshot): ServedSnapshot {
  return { ...placed, digest: SnapshotDigest.of(placed.snapshot.resources.values()) };
}

/**
 * One snapshot while it comes in, frame by frame. What serves is not touched: whoever reads it sees
 * all of the new one or nothing.
 *
 * A resource whose hash has not changed stays the very object that it is in the snapshot that
 * serves, also when it is sent again.
 */
export class SnapshotStaging {
  readonly position: SnapshotPosition;
  readonly #serving: ServedSnapshot | undefined;
  readonly #routesServing: RoutesByHost;
  /** Of the serving one, with changes; else it comes from the beginning. */
  readonly #isDelta: boolean;
  readonly #count: number;
  readonly #resources: Map<string, SnapshotResource>;
  readonly #digest: SnapshotDigest;
  readonly #seen = new Set<string>();
  /** What came with the snapshot. */
  readonly #put = new Map<string, SnapshotResource>();
  readonly #errors: RejectedEntry[] = [];
  /** Of the whole: the resources are then not looked at. */
  #fault: RejectedEntry | undefined;
  #stagedBytes = 0;

  constructor(
    { epoch, seq, base, count }: BeginFrame,
    serving: ServedSnapshot | undefined,
    routesServing: RoutesByHost,
  ) {
    this.position = { epoch, sequence: seq };
    this.#serving = serving;
    this.#routesServing = routesServing;
    this.#count = count;
    this.#fault = faultOf(this.position, base, serving);
    this.#isDelta = base !== null && this.#fault === undefined;
    const basis = this.#isDelta ? serving : undefined;
    this.#resources = new Map(basis?.snapshot.resources);
    this.#digest = basis?.digest.fork() ?? new SnapshotDigest();
  }

  /** `bytes` is how long the frame was. */
  put({ k, h, v }: ReceivedPut, bytes: number): void {
    if (!this.#isExpected(k, bytes)) return;
    const resource = this.#serving?.snapshot.resources.get(k);
    if (resource?.hash === h) this.#take(resource);
    else this.#parse(k, h, v);
  }

  keep({ k, h }: KeepFrame, bytes: number): void {
    if (!this.#isExpected(k, bytes)) return;
    const resource = this.#serving?.snapshot.resources.get(k);
    if (resource?.hash === h) this.#set(resource);
    else this.#errors.push(broken(k, 'that is not what serves'));
  }

  delete({ k }: DeleteFrame, bytes: number): void {
    if (!this.#isExpected(k, bytes)) return;
    if (!this.#resources.delete(k)) this.#errors.push(broken(k, 'there is nothing to delete'));
    this.#digest.delete(k);
  }

  /** The snapshot, or everything that is wrong with it. */
  commit({ version: expected }: CommitFrame): Staged {
    const errors = this.#fault === undefined ? this.#errors : [this.#fault];
    if (errors.length > 0) return { kind: 'refused', errors };
    if (this.#seen.size !== this.#count) {
      return refused(
        `${String(this.#count)} changes were announced, not ${String(this.#seen.size)}`,
      );
    }
    const arrival = { put: this.#put, resources: this.#resources };
    const displaced = displacedRoutes(arrival, this.#serving?.snapshot, this.#routesServing);
    if (displaced.length > 0) return { kind: 'refused', errors: displaced.map(unfit) };
    const version = this.#digest.version();
    if (version !== expected) return refused('the version does not fit the resources');
    const served = this.#serving?.snapshot;
    const snapshot = version === served?.version ? served : { version, resources: this.#resources };
    return {
      kind: 'complete',
      snapshot: { position: this.position, snapshot, digest: this.#digest },
      difference: { since: served, changes: this.#changesTo(snapshot) },
    };
  }

  /** Looks only at what came, where the rest is as it was. */
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
    this.#fault ??= this.#excess();
    if (this.#fault !== undefined) return false;
    if (!this.#seen.has(key)) {
      this.#seen.add(key);
      return true;
    }
    this.#errors.push(broken(key, 'is there twice'));
    return false;
  }

  #excess(): RejectedEntry | undefined {
    if (this.#stagedBytes > MAXIMUM_STAGED_BYTES) return broken('', 'is too large');
    if (this.#seen.size >= this.#count) return broken('', 'has more than was announced');
    return undefined;
  }

  #take(resource: SnapshotResource): void {
    this.#put.set(resource.key, resource);
    this.#set(resource);
  }

  #set(resource: SnapshotResource): void {
    this.#resources.set(resource.key, resource);
    this.#digest.put(resource.key, resource.hash);
  }

  #parse(key: string, hash: string, value: unknown): void {
    try {
      this.#take(parseResource({ key, hash, value }));
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

function faultOf(
  position: SnapshotPosition,
  base: string | null,
  serving: ServedSnapshot | undefined,
): RejectedEntry | undefined {
  if (serving !== undefined && comparePositions(position, serving.position) <= 0) {
    return { key: '', reason: 'StalePosition', message: formatPosition(serving.position) };
  }
  if (base !== null && base !== serving?.snapshot.version) {
    return { key: '', reason: 'UnknownBase', message: 'that snapshot is not served here' };
  }
  return undefined;
}

function refused(message: string): Staged {
  return { kind: 'refused', errors: [broken('', message)] };
}

/** What serves under the key cannot go on. */
function unfit(key: string): RejectedEntry {
  const message = 'what serves under its name has an address that is now of another route';
  return { key, reason: 'InvalidResource', message };
}

function broken(key: string, message: string): RejectedEntry {
  return { key, reason: 'BrokenSnapshot', message };
}
