import type { Clock } from '../../shared/runtime/clock.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import {
  isEmptyChangeSet,
  mergeChangeSets,
  NO_CHANGES,
  type ChangeSet,
} from '../compile/change-set.ts';
import type { Publication } from '../push/publication.ts';
import { DeletionGuard, type Judgement } from './deletion-guard.ts';
import { untouchedPuts } from './untouched-puts.ts';

/** The state of the compiler for the configuration as a whole. */
export interface CompilerState {
  /** Number of routes in the snapshot. */
  readonly routeCount: number;
  /** The reason why nothing may be published; undefined if there is none. */
  readonly obstacle: string | undefined;
}

/** Options of a guarded publication. */
export interface GuardedPublicationOptions {
  readonly publication: Publication;
  /** Routes that served under the previous leader; undefined: the number that proxies report counts. */
  readonly routesBefore: number | undefined;
  /** How long a configuration that lost nearly all routes is held back. */
  readonly deletionDelayMs: number;
  readonly clock: Clock;
  /** Receives the reason why changes are held back; undefined when they are published. */
  readonly onHeldBack: (reason: string | undefined) => void;
}

/**
 * The publication of one leadership, behind a guard: changes wait while the compiler has an obstacle
 * or nearly all routes are gone. In the latter case, routes and Services that are unrelated to the
 * missing ones are published at once.
 */
export class GuardedPublication implements Disposable {
  readonly #options: GuardedPublicationOptions;
  readonly #guard: DeletionGuard;
  #waiting: ChangeSet = NO_CHANGES;
  #compiled: CompilerState = { routeCount: 0, obstacle: undefined };
  /** Number of routes in the newest snapshot; undefined before the first. */
  #publishedRoutes: number | undefined;
  #recheck: Disposable | undefined;
  /** The trace of the newest change. */
  #trace: Trace | undefined;

  constructor(options: GuardedPublicationOptions) {
    this.#options = options;
    this.#guard = new DeletionGuard(options.deletionDelayMs);
  }

  /** Publishes changes, now or once the guard lets them pass. The first changes are the whole table. */
  publish(changes: ChangeSet, compiled: CompilerState, trace?: Trace): void {
    this.#waiting = mergeChangeSets(this.#waiting, changes);
    this.#compiled = compiled;
    this.#trace = trace;
    this.#publishWaiting();
  }

  [Symbol.dispose](): void {
    this.#recheck?.[Symbol.dispose]();
  }

  #publishWaiting(): void {
    this.#recheck?.[Symbol.dispose]();
    const { obstacle } = this.#compiled;
    const { onHeldBack } = this.#options;
    if (obstacle !== undefined) {
      onHeldBack(obstacle);
      return;
    }
    const judgement = this.#judge();
    // The reason stays as it is until the number of routes has settled.
    if (judgement.kind !== 'gather') onHeldBack(this.#reasonOf(judgement));
    if (judgement.kind === 'publish') this.#publishAll();
    else this.#publishUntouched();
  }

  #publishAll(): void {
    const isFirst = this.#publishedRoutes === undefined;
    this.#publishedRoutes = this.#compiled.routeCount;
    const changes = this.#waiting;
    if (!isFirst && isEmptyChangeSet(changes)) return;
    this.#waiting = NO_CHANGES;
    this.#options.publication.publish(changes, this.#trace);
  }

  #publishUntouched(): void {
    // The first snapshot has to be whole.
    if (this.#publishedRoutes === undefined) return;
    const { publication } = this.#options;
    const put = untouchedPuts(this.#waiting, (key) => publication.find(key));
    if (put.length === 0) return;
    const untouched = new Set(put);
    const { deleted } = this.#waiting;
    const left = this.#waiting.put.filter((resource) => !untouched.has(resource));
    this.#waiting = { put: left, deleted };
    publication.publish({ put, deleted: [] }, this.#trace);
  }

  #judge(): Judgement {
    const { publication, routesBefore, clock } = this.#options;
    const served = this.#publishedRoutes ?? routesBefore ?? publication.routesBefore;
    const judgement = this.#guard.judge({
      before: served,
      after: this.#compiled.routeCount,
      now: clock.now(),
    });
    if (judgement.kind !== 'publish') {
      this.#recheck = clock.after(judgement.waitMs, () => this.#publishWaiting());
    }
    return judgement;
  }

  #reasonOf(judgement: Exclude<Judgement, { kind: 'gather' }>): string | undefined {
    if (judgement.kind === 'publish') return undefined;
    const { routeCount } = this.#compiled;
    const left = `${String(routeCount)} of ${String(judgement.before)} routes are left`;
    return `${left}, which may be a mistake`;
  }
}
