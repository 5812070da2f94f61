import { createHash } from 'node:crypto';

/** The most lines of a block. A change copies one block; a version hashes all blocks. */
const MAXIMUM_BLOCK_LINES = 256;

interface Block {
  readonly keys: readonly string[];
  readonly hashes: readonly string[];
  /** The lines as bytes; made when a version is computed. */
  lines: Buffer | undefined;
}

/**
 * Keys and hashes of a snapshot's resources, from which its version is computed: sha256 over the
 * lines `key TAB hash LF`, sorted by key.
 *
 * Fast for small changes: a change copies one block of lines, a version is one pass of sha256 over
 * bytes that mostly exist, and copies share their blocks.
 */
export class SnapshotDigest {
  /** Sorted, never empty, never modified, so that copies can share them. */
  #blocks: readonly Block[] = [];
  #version: string | undefined;
  #size = 0;

  /** Creates the digest of resources with unique keys. */
  static of(resources: Iterable<{ readonly key: string; readonly hash: string }>): SnapshotDigest {
    const sorted = [...resources].sort((a, b) => (a.key < b.key ? -1 : 1));
    const digest = new SnapshotDigest();
    const half = MAXIMUM_BLOCK_LINES / 2;
    digest.#blocks = Array.from({ length: Math.ceil(sorted.length / half) }, (_, index) => {
      const part = sorted.slice(index * half, (index + 1) * half);
      return block(
        part.map(({ key }) => key),
        part.map(({ hash }) => hash),
      );
    });
    digest.#size = sorted.length;
    return digest;
  }

  /** Number of resources. */
  get size(): number {
    return this.#size;
  }

  /** Returns a copy; later changes to one do not affect the other. */
  fork(): SnapshotDigest {
    const fork = new SnapshotDigest();
    fork.#blocks = this.#blocks;
    fork.#version = this.#version;
    fork.#size = this.#size;
    return fork;
  }

  /** Adds a resource, or replaces its hash. */
  put(key: string, hash: string): void {
    const at = this.#blockFor(key);
    const { keys, hashes } = this.#blocks[at] ?? block([], []);
    const index = lowerBound(keys, key);
    const replaced = keys[index] === key ? 1 : 0;
    this.#replace(
      at,
      halves(keys.toSpliced(index, replaced, key), hashes.toSpliced(index, replaced, hash)),
    );
    this.#size += 1 - replaced;
  }

  /** Removes a resource. Returns whether there was one. */
  delete(key: string): boolean {
    const at = this.#blockFor(key);
    const found = this.#blocks[at];
    if (found === undefined) return false;
    const index = lowerBound(found.keys, key);
    if (found.keys[index] !== key) return false;
    const rest = block(found.keys.toSpliced(index, 1), found.hashes.toSpliced(index, 1));
    this.#replace(at, rest.keys.length === 0 ? [] : [rest]);
    this.#size -= 1;
    return true;
  }

  /** Returns the version as hex: equal keys and hashes have equal versions. */
  version(): string {
    this.#version ??= this.#computeVersion();
    return this.#version;
  }

  #computeVersion(): string {
    const hash = createHash('sha256');
    for (const each of this.#blocks) {
      each.lines ??= Buffer.from(
        each.keys.map((key, index) => `${key}\t${each.hashes[index] ?? ''}\n`).join(''),
      );
      hash.update(each.lines);
    }
    return hash.digest('hex');
  }

  /** Returns the index of the only block that may hold the key. */
  #blockFor(key: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const first = this.#blocks[middle]?.keys[0];
      if (first !== undefined && first <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #replace(index: number, blocks: readonly Block[]): void {
    this.#blocks = this.#blocks.toSpliced(index, 1, ...blocks);
    this.#version = undefined;
  }
}

function block(keys: readonly string[], hashes: readonly string[]): Block {
  return { keys, hashes, lines: undefined };
}

function halves(keys: readonly string[], hashes: readonly string[]): readonly Block[] {
  if (keys.length <= MAXIMUM_BLOCK_LINES) return [block(keys, hashes)];
  const middle = Math.ceil(keys.length / 2);
  return [
    block(keys.slice(0, middle), hashes.slice(0, middle)),
    block(keys.slice(middle), hashes.slice(middle)),
  ];
}

/** Returns the index of the first key that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = keys[middle];
    if (candidate !== undefined && candidate < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
