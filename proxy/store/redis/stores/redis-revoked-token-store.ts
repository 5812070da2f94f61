import type { RevokedTokenStore } from '../../grant-store.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { integerReply } from '../connection/replies.ts';

/** Revoked external tokens of all proxies. */
export class RedisRevokedTokenStore implements RevokedTokenStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async revoke(tokenId: string, ttlSeconds: number): Promise<void> {
    await this.#redis.send('SET', this.#keyOf(tokenId), '1', 'PX', milliseconds(ttlSeconds));
  }

  async isRevoked(tokenId: string): Promise<boolean> {
    return integerReply(await this.#redis.send('EXISTS', this.#keyOf(tokenId))) === 1;
  }

  #keyOf(tokenId: string): string {
    return keyOf(this.#redis, 'revoked-token', tokenId);
  }
}
