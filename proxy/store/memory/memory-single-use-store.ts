import type { SingleUseStore } from '../single-use-store.ts';
import type { Now } from '../../cache/expiring-map.ts';
import { SharedMap } from '../../cache/shared-map.ts';
import { sizeInMemory } from '../../cache/size-in-memory.ts';
import type { TokenHash } from '../../crypto/tokens.ts';

/** Room for thousands of the longest records, and strangers can fill it. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Single-use records of one process. */
export class MemorySingleUseStore<Value, Key extends string = TokenHash> implements SingleUseStore<
  Value,
  Key
> {
  readonly #records: SharedMap<Value>;

  constructor(now: Now, maxBytes: number = MAX_BYTES) {
    this.#records = new SharedMap(now, maxBytes);
  }

  save(key: Key, value: Value, ttlSeconds: number, endSite = ''): Promise<void> {
    this.#records.set(key, value, { owner: endSite, size: sizeInMemory(value), ttlSeconds });
    return Promise.resolve();
  }

  peek(key: Key): Promise<Value | null> {
    return Promise.resolve(this.#records.get(key));
  }

  consume(key: Key): Promise<Value | null> {
    return Promise.resolve(this.#records.consume(key));
  }
}
