import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { ChangeSet } from '../compile/change-set.ts';
import type { Publication } from '../push/publication.ts';
import {
  GuardedPublication,
  type CompilerState,
  type GuardedPublicationOptions,
} from './guarded-publication.ts';

/** Changes by the compiler, and its state after them. */
export interface Compiled extends ChangeSet, CompilerState {
  readonly trace?: Trace | undefined;
}

/** Options of a publisher. `onHeldBack` is called when the reason changes. */
export type PublisherOptions = Pick<
  GuardedPublicationOptions,
  'deletionDelayMs' | 'clock' | 'onHeldBack'
>;

/**
 * Keeps all compiled snapshot resources, and publishes them while this controller leads: all of them at
 * the beginning of a term, and then each change.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #table = new Map<string, SnapshotResource>();
  #state: CompilerState = { routeCount: 0, obstacle: undefined };
  #current: GuardedPublication | undefined;
  #heldBack: string | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** All compiled snapshot resources by key, published or not. */
  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#table;
  }

  /** Whether this controller leads. */
  get isLeading(): boolean {
    return this.#current !== undefined;
  }

  /** Records changes, and publishes them if this controller leads. */
  publish({ put, deleted, routeCount, obstacle, trace }: Compiled): void {
    for (const resource of put) this.#table.set(resource.key, resource);
    for (const key of deleted) this.#table.delete(key);
    this.#state = { routeCount, obstacle };
    this.#current?.publish({ put, deleted }, this.#state, trace);
  }

  /**
   * Publishes the whole table, and then each change until the controller resigns. `routesBefore` is the
   * number of routes that the previous leader reported; undefined: the number that proxies report counts.
   */
  beginTerm(publication: Publication, routesBefore: number | undefined, trace?: Trace): void {
    this.#current?.[Symbol.dispose]();
    this.#current = new GuardedPublication({
      ...this.#options,
      publication,
      routesBefore,
      onHeldBack: (reason) => this.#setHeldBack(reason),
    });
    const put = [...this.#table.values()];
    this.#current.publish({ put, deleted: [] }, this.#state, trace);
  }

  /** Ends the term. */
  resign(): void {
    this.#current?.[Symbol.dispose]();
    this.#current = undefined;
    this.#setHeldBack(undefined);
  }

  #setHeldBack(reason: string | undefined): void {
    if (reason === this.#heldBack) return;
    this.#heldBack = reason;
    this.#options.onHeldBack(reason);
  }
}
