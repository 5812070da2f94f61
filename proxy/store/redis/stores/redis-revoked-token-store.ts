import type { RevokedTokenStore } from '../../grant-store.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import type { RedisCommands } from '../connection/redis-connection.ts';
import { integer } from '../connection/replies.ts';

/** Revoked access tokens of all proxies. */
export class RedisRevokedTokenStore implements RevokedTokenStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async revoke(jwtId: string, ttlSeconds: number): Promise<void> {
    await this.#redis.send('SET', this.#keyOf(jwtId), '1', 'PX', milliseconds(ttlSeconds));
  }

  async isRevoked(jwtId: string): Promise<boolean> {
    return integer(await this.#redis.send('EXISTS', this.#keyOf(jwtId))) === 1;
  }

  #keyOf(jwtId: string): string {
    return keyOf(this.#redis, 'revoked-token', jwtId);
  }
}
