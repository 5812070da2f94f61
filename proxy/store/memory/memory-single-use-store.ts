import type { SingleUseStore } from '../single-use-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** Single-use records of one process. */
export class MemorySingleUseStore<Value> implements SingleUseStore<Value> {
  readonly #records: ExpiringMap<Value>;

  constructor(now: Now) {
    this.#records = new ExpiringMap(now);
  }

  save(key: string, value: Value, ttlSeconds: number): Promise<void> {
    this.#records.set(key, value, ttlSeconds);
    return Promise.resolve();
  }

  peek(key: string): Promise<Value | null> {
    return Promise.resolve(this.#records.get(key));
  }

  consume(key: string): Promise<Value | null> {
    return Promise.resolve(this.#records.take(key));
  }
}
