import type { Sealer } from '../../../crypto/sealer.ts';
import type { BrowserSession } from '../../../records/browser-session.ts';
import type { BrowserSessionStore } from '../../session-store.ts';
import { keyOf } from '../records/keys.ts';
import { isBrowserSession } from '../records/record-guards.ts';
import { RecordSeal } from '../records/record-seal.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { textReply } from '../connection/replies.ts';
import type { TokenHash } from '../../../crypto/tokens.ts';

/** KEYS: browser sessions of the session. ARGV: hash of the cookie, record, end in milliseconds. */
const ADD: RedisScript = {
  keyCount: 1,
  lua: `
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
    if redis.call('PEXPIRETIME', KEYS[1]) < tonumber(ARGV[3]) then
      redis.call('PEXPIREAT', KEYS[1], ARGV[3])
    end
  `,
};

/**
 * Browser sessions of all proxies.
 *
 * The records of one session are fields of one hash, so that one command ends them all. The key of
 * a cookie only names that hash: without a record in it, the cookie is worthless.
 */
export class RedisBrowserSessionStore implements BrowserSessionStore {
  readonly #redis: RedisCommands;
  readonly #seal: RecordSeal<BrowserSession>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#redis = redis;
    this.#seal = new RecordSeal(sealer, 'browser-sessions', isBrowserSession);
  }

  async save(
    cookieHash: TokenHash,
    browserSession: BrowserSession,
    expiresAt: number,
  ): Promise<void> {
    const { sessionId } = browserSession;
    const key = this.#keyOf(sessionId);
    const sealed = this.#seal.seal(locationOf(key, cookieHash), browserSession);
    const end = Math.trunc(expiresAt);
    await this.#redis.run(ADD, [key], [cookieHash, sealed, end]);
    await this.#redis.send('SET', this.#cookieKeyOf(cookieHash), sessionId, 'PXAT', end);
  }

  async get(cookieHash: TokenHash): Promise<BrowserSession | null> {
    const sessionId = textReply(await this.#redis.send('GET', this.#cookieKeyOf(cookieHash)));
    if (sessionId === null) return null;
    const key = this.#keyOf(sessionId);
    const sealed = textReply(await this.#redis.send('HGET', key, cookieHash));
    return sealed === null ? null : this.#seal.open(locationOf(key, cookieHash), sealed);
  }

  async deleteAll(sessionId: string): Promise<void> {
    await this.#redis.send('DEL', this.#keyOf(sessionId));
  }

  #keyOf(sessionId: string): string {
    return keyOf(this.#redis, 'browser-sessions', sessionId);
  }

  #cookieKeyOf(cookieHash: TokenHash): string {
    return keyOf(this.#redis, 'browser-session', cookieHash);
  }
}

function locationOf(key: string, cookieHash: TokenHash): string {
  return `${key} ${cookieHash}`;
}
