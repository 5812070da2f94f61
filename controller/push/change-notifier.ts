import type { OnPublicationChange } from './publication.ts';

/** Batches changes, and reports them once per turn of the event loop. */
export class ChangeNotifier {
  readonly #onChange: OnPublicationChange;
  #keys: Set<string> | 'all' | undefined;
  #next: NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(onChange: OnPublicationChange) {
    this.#onChange = onChange;
  }

  /** Adds keys to the next report. */
  add(keys: Iterable<string> | 'all'): void {
    if (this.#isClosed) return;
    this.#next ??= setImmediate(() => this.#notify());
    if (keys === 'all' || this.#keys === 'all') {
      this.#keys = 'all';
      return;
    }
    this.#keys ??= new Set();
    for (const key of keys) this.#keys.add(key);
  }

  /** Reports nothing after this. */
  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#next);
  }

  #notify(): void {
    const keys = this.#keys ?? new Set();
    this.#keys = undefined;
    this.#next = undefined;
    this.#onChange(keys);
  }
}
