import type { ReplayStore } from '../../rate-limit-store.ts';
import { hashedId, keyOf, milliseconds } from '../records/keys.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';

/** Used ids of all proxies. */
export class RedisReplayStore implements ReplayStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async claim(owner: string, id: string, ttlSeconds: number): Promise<boolean> {
    const key = keyOf(this.#redis, 'replay', hashedId(owner, id));
    return (await this.#redis.send('SET', key, '1', 'NX', 'PX', milliseconds(ttlSeconds))) === 'OK';
  }
}
