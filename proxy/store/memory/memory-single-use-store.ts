import type { SingleUseStore } from '../single-use-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import type { TokenHash } from '../../crypto/tokens.ts';

/** Single-use records of one process. */
export class MemorySingleUseStore<Value, Key extends string = TokenHash> implements SingleUseStore<
  Value,
  Key
> {
  readonly #records: ExpiringMap<Value>;

  constructor(now: Now) {
    this.#records = new ExpiringMap(now);
  }

  save(key: Key, value: Value, ttlSeconds: number): Promise<void> {
    this.#records.set(key, value, ttlSeconds);
    return Promise.resolve();
  }

  peek(key: Key): Promise<Value | null> {
    return Promise.resolve(this.#records.get(key));
  }

  consume(key: Key): Promise<Value | null> {
    return Promise.resolve(this.#records.consume(key));
  }
}
