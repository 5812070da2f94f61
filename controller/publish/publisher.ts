import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';
import type { Publication } from '../push/publication.ts';
import {
  GuardedPublication,
  type CompilerState,
  type GuardedPublicationOptions,
} from './guarded-publication.ts';

/** Changes that the compiler made, and the state that it is in after them. */
export interface Compiled extends ChangeSet, CompilerState {}

/** Options of a publisher. `onHeldBack` is called when the reason changes. */
export type PublisherOptions = Pick<
  GuardedPublicationOptions,
  'deletionDelayMs' | 'clock' | 'onHeldBack'
>;

/**
 * Keeps everything that is compiled, and publishes it while this controller leads: the whole at the
 * beginning of a leadership, and then each change.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #table = new Map<string, SnapshotResource>();
  #state: CompilerState = { routeCount: 0, obstacle: undefined };
  #leading: GuardedPublication | undefined;
  #heldBack: string | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Everything that is compiled, published or not, by key. */
  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#table;
  }

  /** Records what changed, and publishes it if this controller leads. */
  publish({ put, deleted, routeCount, obstacle }: Compiled): void {
    for (const resource of put) this.#table.set(resource.key, resource);
    for (const key of deleted) this.#table.delete(key);
    this.#state = { routeCount, obstacle };
    this.#leading?.publish({ put, deleted }, this.#state);
  }

  /**
   * Begins a leadership: publishes the whole table. `routesBefore` is the number of routes that the
   * leader before reported; undefined: the number that proxies report counts.
   */
  beginTerm(publication: Publication, routesBefore: number | undefined): void {
    this.#leading?.[Symbol.dispose]();
    this.#leading = new GuardedPublication({
      ...this.#options,
      publication,
      routesBefore,
      onHeldBack: (reason) => this.#setHeldBack(reason),
    });
    this.#leading.publish({ put: [...this.#table.values()], deleted: [] }, this.#state);
  }

  /** Ends the leadership. */
  resign(): void {
    this.#leading?.[Symbol.dispose]();
    this.#leading = undefined;
    this.#setHeldBack(undefined);
  }

  #setHeldBack(reason: string | undefined): void {
    if (reason === this.#heldBack) return;
    this.#heldBack = reason;
    this.#options.onHeldBack(reason);
  }
}
