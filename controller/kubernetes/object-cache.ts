import type { KubernetesObject } from './objects.ts';

/** A parsed object, and the version it was parsed from. */
interface Entry<Parsed> {
  readonly version: string | undefined;
  readonly parsed: Parsed;
}

/** Receives a new or changed object; undefined if it was deleted. Must not throw. */
export type OnObjectChange<Parsed> = (
  key: string,
  object: Parsed | undefined,
  before: Parsed | undefined,
) => void;

/** The objects of one type, by `namespace/name`, or by name if the type has no namespaces. */
export class ObjectCache<Parsed> {
  #entries = new Map<string, Entry<Parsed>>();
  readonly #parse: (object: KubernetesObject) => Parsed;
  readonly #onChange: OnObjectChange<Parsed>;

  /** `parse` returns the part of an object that the cache holds. */
  constructor(parse: (object: KubernetesObject) => Parsed, onChange: OnObjectChange<Parsed>) {
    this.#parse = parse;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Parsed | undefined {
    return this.#entries.get(key)?.parsed;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /** Adds an object, or replaces its older version. */
  put(object: KubernetesObject): void {
    const key = keyOf(object);
    const before = this.#entries.get(key);
    const entry = this.#entryOf(key, object);
    if (entry === before) return;
    this.#entries.set(key, entry);
    this.#onChange(key, entry.parsed, before?.parsed);
  }

  /** Removes an object, if the cache holds it. */
  remove(object: KubernetesObject): void {
    const key = keyOf(object);
    const before = this.#entries.get(key);
    if (before === undefined) return;
    this.#entries.delete(key);
    this.#onChange(key, undefined, before.parsed);
  }

  /** Starts a list that replaces all objects once it is complete. */
  startReplacement(): { add(object: KubernetesObject): void; commit(): void } {
    const entries = new Map<string, Entry<Parsed>>();
    return {
      add: (object) => {
        const key = keyOf(object);
        entries.set(key, this.#entryOf(key, object));
      },
      commit: () => this.#replace(entries),
    };
  }

  #replace(entries: Map<string, Entry<Parsed>>): void {
    const before = this.#entries;
    this.#entries = entries;
    for (const [key, { parsed }] of before) {
      if (!entries.has(key)) this.#onChange(key, undefined, parsed);
    }
    for (const [key, entry] of entries) {
      const known = before.get(key);
      if (known !== entry) this.#onChange(key, entry.parsed, known?.parsed);
    }
  }

  /** Returns the known entry if its version is the same. */
  #entryOf(key: string, object: KubernetesObject): Entry<Parsed> {
    const version = object.metadata.resourceVersion;
    const known = this.#entries.get(key);
    if (known !== undefined && version !== undefined && known.version === version) return known;
    return { version, parsed: this.#parse(object) };
  }
}

function keyOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
