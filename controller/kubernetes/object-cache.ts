import type { KubernetesObject } from './objects.ts';

/** An object as it is kept, and the version it had. */
interface Entry<Kept> {
  readonly version: string | undefined;
  readonly kept: Kept;
}

/** Told of an object that is new, has another version, or is gone (undefined). It may not throw. */
export type OnObjectChange<Kept> = (
  key: string,
  object: Kept | undefined,
  before: Kept | undefined,
) => void;

/** The objects of one type, by `namespace/name`, or by name where there is no namespace. */
export class ObjectCache<Kept> {
  #entries = new Map<string, Entry<Kept>>();
  readonly #keep: (object: KubernetesObject) => Kept;
  readonly #onChange: OnObjectChange<Kept>;

  /** `keep` picks what is worth its memory. */
  constructor(keep: (object: KubernetesObject) => Kept, onChange: OnObjectChange<Kept>) {
    this.#keep = keep;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Kept | undefined {
    return this.#entries.get(key)?.kept;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  put(object: KubernetesObject): void {
    const key = keyOf(object);
    const before = this.#entries.get(key);
    const entry = this.#entryOf(key, object);
    if (entry === before) return;
    this.#entries.set(key, entry);
    this.#onChange(key, entry.kept, before?.kept);
  }

  remove(object: KubernetesObject): void {
    const key = keyOf(object);
    const before = this.#entries.get(key);
    if (before === undefined) return;
    this.#entries.delete(key);
    this.#onChange(key, undefined, before.kept);
  }

  /** Begins a list that takes the place of what is there once it is whole. */
  startReplacement(): { add(object: KubernetesObject): void; commit(): void } {
    const entries = new Map<string, Entry<Kept>>();
    return {
      add: (object) => {
        const key = keyOf(object);
        entries.set(key, this.#entryOf(key, object));
      },
      commit: () => this.#replace(entries),
    };
  }

  #replace(entries: Map<string, Entry<Kept>>): void {
    const before = this.#entries;
    this.#entries = entries;
    for (const [key, { kept }] of before) {
      if (!entries.has(key)) this.#onChange(key, undefined, kept);
    }
    for (const [key, entry] of entries) {
      const known = before.get(key);
      if (known !== entry) this.#onChange(key, entry.kept, known?.kept);
    }
  }

  /** The very entry that is there, when the version is the same. */
  #entryOf(key: string, object: KubernetesObject): Entry<Kept> {
    const version = object.metadata.resourceVersion;
    const known = this.#entries.get(key);
    if (known !== undefined && version !== undefined && known.version === version) return known;
    return { version, kept: this.#keep(object) };
  }
}

function keyOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
