import type { Logger } from '../../../../shared/telemetry/logger.ts';
import type { RedisClient } from './redis-client.ts';
import { evictionPolicyOf, parseRedisInfo } from './redis-info.ts';

/**
 * Warns if Redis evicts keys when its memory is full.
 *
 * It may evict a revocation, and then the revoked token is valid again.
 */
export class EvictionWarnings {
  readonly #logger: Logger;
  readonly #warnedOf = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Asks every master, and ignores those that do not answer. */
  async check(client: RedisClient): Promise<void> {
    const asking = client.masters().map((master) => master.call('INFO', ['memory']));
    const replies = await Promise.all(asking).catch(() => []);
    for (const reply of replies) {
      const policy = evictionPolicyOf(parseRedisInfo(reply));
      if (policy === undefined || this.#warnedOf.has(policy)) continue;
      this.#warnedOf.add(policy);
      this.#logger.warn('redis evicts keys', {
        policy,
        consequence: 'revoked tokens may become valid again; set maxmemory-policy to noeviction',
      });
    }
  }
}
