import { hashResource, snapshotOf } from '../../../shared/snapshot/hash-resource.ts';
import type {
  BeginFrame,
  CommitFrame,
  DeleteFrame,
  KeepFrame,
  PutFrame,
} from '../../../shared/snapshot/push-frames.ts';
import {
  comparePositions,
  formatPosition,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { Snapshot, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';

/** A snapshot, and its position. */
export interface ProbedSnapshot {
  readonly position: SnapshotPosition;
  readonly snapshot: Snapshot;
}

/** A snapshot while it is received. Throws for everything that a controller must not send. */
export class StagedSnapshot {
  readonly begin: BeginFrame;
  readonly #serving: ProbedSnapshot | undefined;
  readonly #resources: Map<string, SnapshotResource>;
  readonly #changed = new Set<string>();

  constructor(begin: BeginFrame, serving: ProbedSnapshot | undefined) {
    this.begin = begin;
    this.#serving = serving;
    const trace = begin.trace === undefined ? [] : ['trace'];
    expectMembers(begin, ['t', 'epoch', 'seq', 'base', 'count', ...trace]);
    if (serving !== undefined && comparePositions(this.position, serving.position) <= 0) {
      const places = `${formatPosition(this.position)} after ${formatPosition(serving.position)}`;
      throw new Error(`stale position ${places}`);
    }
    const version = serving?.snapshot.version;
    if (begin.base !== null && begin.base !== version) throw new Error('unknown base');
    this.#resources = new Map(begin.base === null ? [] : serving?.snapshot.resources);
  }

  get position(): SnapshotPosition {
    return { epoch: this.begin.epoch, sequence: this.begin.seq };
  }

  /** Keys that were put or deleted. */
  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  put(frame: PutFrame): void {
    expectMembers(frame, ['t', 'k', 'h', 'v']);
    this.#note(frame.k);
    const resource = hashResource(frame.k, frame.v);
    if (resource.hash !== frame.h) throw new Error(`hash of ${frame.k} is wrong`);
    if (this.#resources.get(frame.k)?.hash === frame.h)
      throw new Error(`${frame.k} does not change`);
    this.#resources.set(frame.k, resource);
  }

  keep(frame: KeepFrame): void {
    expectMembers(frame, ['t', 'k', 'h']);
    this.#note(frame.k);
    if (this.begin.base !== null) throw new Error(`${frame.k} is kept in a delta`);
    const resource = this.#serving?.snapshot.resources.get(frame.k);
    if (resource?.hash !== frame.h) throw new Error(`${frame.k} is not what serves`);
    this.#resources.set(frame.k, resource);
  }

  delete(frame: DeleteFrame): void {
    expectMembers(frame, ['t', 'k']);
    this.#note(frame.k);
    if (!this.#resources.delete(frame.k)) throw new Error(`${frame.k} is not there`);
  }

  commit(frame: CommitFrame): ProbedSnapshot {
    expectMembers(frame, ['t', 'version']);
    if (this.#changed.size !== this.begin.count) throw new Error('wrong count');
    const snapshot = snapshotOf(this.#resources.values());
    if (snapshot.version !== frame.version) throw new Error('wrong version');
    return { position: this.position, snapshot };
  }

  /** The snapshot that keeps serving if this one is rejected. */
  get serving(): ProbedSnapshot | undefined {
    return this.#serving;
  }

  #note(key: string): void {
    if (this.#changed.has(key)) throw new Error(`${key} was sent twice`);
    this.#changed.add(key);
  }
}

/** Throws unless a frame has these members and no others. */
export function expectMembers(frame: object, names: readonly string[]): void {
  const found = Object.keys(frame).sort().join();
  if (found !== [...names].sort().join()) throw new Error(`frame with the members ${found}`);
}
