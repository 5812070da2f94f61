import type { Clock } from '../../shared/runtime/clock.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Compilation } from '../compile/compilation.ts';
import type { Publication } from '../push/publication.ts';
import { DeletionGuard, type Judgement } from './deletion-guard.ts';
import { untouchedPuts } from './untouched-puts.ts';

/** What the compiler made, and whether it may go out. */
export interface Compiled {
  readonly put: Compilation['put'];
  readonly deleted: Compilation['deleted'];
  /** Routes in the snapshot. */
  readonly routeCount: number;
  /** Why nothing may be published; undefined when it may. */
  readonly obstacle: string | undefined;
}

export interface PublisherOptions {
  /** How long a configuration that lost nearly all routes is held back. */
  readonly deletionDelayMs: number;
  readonly clock: Clock;
  /** Learns why what is compiled is not published; undefined: it is. */
  readonly onHeldBack: (reason: string | undefined) => void;
}

/**
 * Hands what is compiled to the publication of the leadership there is: all of it at its start, and
 * then what changes. Holds it back while the compiler has an obstacle or nearly all routes are gone;
 * in that case, routes and Services that the missing ones have nothing to do with go out all the
 * same: nobody's changes wait for what others delete.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #table = new Map<string, SnapshotResource>();
  readonly #put = new Map<string, SnapshotResource>();
  readonly #deleted = new Set<string>();
  /** What this publication has. */
  readonly #published = new Map<string, SnapshotResource>();
  #guard: DeletionGuard;
  #publication: Publication | undefined;
  /** Of this publication; undefined before its first snapshot. */
  #publishedRoutes: number | undefined;
  #routesBefore: number | undefined;
  #routeCount = 0;
  #obstacle: string | undefined;
  #heldBack: string | undefined;
  #recheck: Disposable | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#guard = new DeletionGuard(options.deletionDelayMs);
  }

  /** Everything that is compiled, published or not. */
  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#table;
  }

  /** Why what is compiled is not published at present; undefined: it is. */
  get heldBack(): string | undefined {
    return this.#heldBack;
  }

  /** Takes what changed, and publishes it if this controller leads. */
  publish({ put, deleted, routeCount, obstacle }: Compiled): void {
    for (const resource of put) {
      this.#table.set(resource.key, resource);
      this.#put.set(resource.key, resource);
      this.#deleted.delete(resource.key);
    }
    for (const key of deleted) {
      this.#table.delete(key);
      this.#put.delete(key);
      this.#deleted.add(key);
    }
    this.#routeCount = routeCount;
    this.#obstacle = obstacle;
    this.#publish();
  }

  /**
   * Begins a leadership: the whole table goes to its publication. `routesBefore` are those that served
   * under the leader before; undefined where it told nobody, and the proxies are believed.
   */
  lead(publication: Publication, routesBefore: number | undefined): void {
    this.#publication = publication;
    this.#routesBefore = routesBefore;
    this.#publishedRoutes = undefined;
    this.#published.clear();
    this.#guard = new DeletionGuard(this.#options.deletionDelayMs);
    this.#deleted.clear();
    for (const [key, resource] of this.#table) this.#put.set(key, resource);
    this.#publish();
  }

  /** Ends it. */
  resign(): void {
    this.#publication = undefined;
    this.#recheck?.[Symbol.dispose]();
    this.#report(undefined);
  }

  #publish(): void {
    this.#recheck?.[Symbol.dispose]();
    const publication = this.#publication;
    if (publication === undefined) return;
    const judgement = this.#judge(publication);
    // What was said of the time before stays true until the table is at rest.
    if (judgement.kind !== 'gather') this.#report(this.#obstacle ?? this.#suspicion(judgement));
    if (this.#obstacle !== undefined) return;
    if (judgement.kind === 'publish') this.#publishAll(publication);
    else this.#publishUntouched(publication);
  }

  #publishAll(publication: Publication): void {
    const isFirst = this.#publishedRoutes === undefined;
    this.#publishedRoutes = this.#routeCount;
    if (!isFirst && this.#put.size === 0 && this.#deleted.size === 0) return;
    const change = { put: [...this.#put.values()], deleted: [...this.#deleted] };
    this.#put.clear();
    this.#deleted.clear();
    this.#hand(publication, change);
  }

  #publishUntouched(publication: Publication): void {
    // The first snapshot is whole.
    if (this.#publishedRoutes === undefined) return;
    const put = untouchedPuts({
      put: this.#put,
      deleted: this.#deleted,
      published: this.#published,
    });
    if (put.length === 0) return;
    for (const { key } of put) this.#put.delete(key);
    this.#hand(publication, { put, deleted: [] });
  }

  #hand(publication: Publication, change: Parameters<Publication['publish']>[0]): void {
    for (const resource of change.put) this.#published.set(resource.key, resource);
    for (const key of change.deleted) this.#published.delete(key);
    publication.publish(change);
  }

  /** Before its first snapshot, what serves is what the leader before said, or else the proxies say. */
  #judge(publication: Publication): Judgement {
    if (this.#obstacle !== undefined) return { kind: 'publish' };
    const told = this.#routesBefore ?? publication.routesBefore;
    const before = this.#publishedRoutes ?? told;
    const now = this.#options.clock.now();
    const judgement = this.#guard.judge({ before, after: this.#routeCount, now });
    if (judgement.kind !== 'publish') {
      this.#recheck = this.#options.clock.after(judgement.waitMs, () => this.#publish());
    }
    return judgement;
  }

  #suspicion(judgement: Exclude<Judgement, { kind: 'gather' }>): string | undefined {
    if (judgement.kind === 'publish') return undefined;
    const routes = `${String(this.#routeCount)} of ${String(judgement.before)} routes are left`;
    return `${routes}, which may be a mistake`;
  }

  #report(reason: string | undefined): void {
    if (reason === this.#heldBack) return;
    this.#heldBack = reason;
    this.#options.onHeldBack(reason);
  }
}
