import type {
  RefreshTokenRecord,
  RefreshTokenStore,
  Rotation,
  RotationOutcome,
} from '../refresh-token-store.ts';
import { keyOf, milliseconds } from './keys.ts';
import type { RedisCommands, RedisScript } from './redis-connection.ts';
import { textOrNull, texts } from './replies.ts';

/** Longer than any request that is still about to save a token of a revoked family takes. */
const REVOCATION_MEMORY_SECONDS = 600;

/** Predecessors whose replay is still seen. An older one is unknown, and as useless. */
const MAX_PREDECESSORS = 32;

/**
 * Makes a token the current one of its family, which lives at least as long. Returns those that are
 * forgotten for it.
 */
const APPEND = `
  local function append(family, hash, ttl)
    redis.call('RPUSH', family, hash)
    if redis.call('PTTL', family) < tonumber(ttl) then redis.call('PEXPIRE', family, ttl) end
    local excess = redis.call('LLEN', family) - ${String(MAX_PREDECESSORS + 1)}
    return excess > 0 and redis.call('LPOP', family, excess) or {}
  end
`;

/** KEYS: family, grace, revocation. ARGV: token, lifetime in milliseconds. First element: outcome. */
const SAVE: RedisScript = {
  keyCount: 3,
  lua: `
    ${APPEND}
    if redis.call('EXISTS', KEYS[3]) == 1 then return {'revoked'} end
    redis.call('DEL', KEYS[2])
    return {'saved', unpack(append(KEYS[1], ARGV[1], ARGV[2]))}
  `,
};

/** KEYS: family, grace. ARGV: token. 1 when its rotation would be a replay. */
const IS_REPLAY: RedisScript = {
  keyCount: 2,
  lua: `
    if redis.call('LINDEX', KEYS[1], -1) == ARGV[1] then return 0 end
    if not redis.call('LPOS', KEYS[1], ARGV[1]) then return 0 end
    local isLast = redis.call('LINDEX', KEYS[1], -2) == ARGV[1]
    return isLast and redis.call('EXISTS', KEYS[2]) == 1 and 0 or 1
  `,
};

/**
 * KEYS: family, grace. ARGV: token, successor, sealed successor, grace and lifetime in milliseconds.
 * First element: outcome. The grace is of the last predecessor, and of no other.
 */
const ROTATE: RedisScript = {
  keyCount: 2,
  lua: `
    ${APPEND}
    if redis.call('LINDEX', KEYS[1], -1) == ARGV[1] then
      if tonumber(ARGV[4]) > 0 then
        redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
      else
        redis.call('DEL', KEYS[2])
      end
      return {'rotated', unpack(append(KEYS[1], ARGV[2], ARGV[5]))}
    end
    if not redis.call('LPOS', KEYS[1], ARGV[1]) then return {'unknown'} end
    local isLast = redis.call('LINDEX', KEYS[1], -2) == ARGV[1]
    local sealed = isLast and redis.call('GET', KEYS[2])
    if sealed then return {'repeated', sealed} end
    return {'replayed'}
  `,
};

/**
 * KEYS: family, grace, revocation. ARGV: how long the revocation is remembered, in milliseconds.
 * Returns the tokens.
 *
 * Deletes first: a Redis without memory refuses a script whose first write takes more of it.
 */
const REVOKE: RedisScript = {
  keyCount: 3,
  lua: `
    local hashes = redis.call('LRANGE', KEYS[1], 0, -1)
    redis.call('DEL', KEYS[1], KEYS[2])
    redis.call('SET', KEYS[3], '1', 'PX', ARGV[1])
    return hashes
  `,
};

/**
 * Refresh tokens of all proxies.
 *
 * The family decides, in one slot: a token is what its family says. The key of a token only says
 * which family that is. It is written before the family knows the token, and deleted after the family
 * has forgotten it, so whoever fails in between leaves a key that stands for nothing.
 */
export class RedisRefreshTokenStore implements RefreshTokenStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async save(hash: string, { grantId }: RefreshTokenRecord, ttlSeconds: number): Promise<void> {
    const isNew = await this.#announce(hash, grantId, ttlSeconds);
    const args = [hash, milliseconds(ttlSeconds)];
    const reply = await this.#redis.run(SAVE, this.#familyKeys(grantId), args);
    const [outcome, ...dropped] = texts(reply);
    // A code that is redeemed twice at once has its family revoked before the first token is saved
    // (RFC 9700, 4.5), and that token is born dead.
    const isDead = outcome === 'revoked' && isNew;
    await this.#forget(isDead ? [hash] : dropped);
  }

  async get(hash: string): Promise<RefreshTokenRecord | null> {
    const grantId = await this.#grantOf(hash);
    if (grantId === null) return null;
    const family = keyOf(this.#redis, 'refresh-family', grantId);
    const position = await this.#redis.send('LPOS', family, hash);
    return position === null ? null : { grantId };
  }

  async isReplay(hash: string): Promise<boolean> {
    const grantId = await this.#grantOf(hash);
    if (grantId === null) return false;
    const [family, grace] = this.#familyKeys(grantId);
    return (await this.#redis.run(IS_REPLAY, [family, grace], [hash])) === 1;
  }

  async rotate(hash: string, rotation: Rotation): Promise<RotationOutcome | null> {
    const { successorHash, sealedSuccessor, graceSeconds, ttlSeconds } = rotation;
    const grantId = await this.#grantOf(hash);
    if (grantId === null) return null;
    const isNew = await this.#announce(successorHash, grantId, ttlSeconds);
    const grace = graceSeconds > 0 ? milliseconds(graceSeconds) : 0;
    const [family, graceKey] = this.#familyKeys(grantId);
    const reply = await this.#redis.run(
      ROTATE,
      [family, graceKey],
      [hash, successorHash, sealedSuccessor, grace, milliseconds(ttlSeconds)],
    );
    const [kind, ...rest] = texts(reply);
    if (kind === 'rotated') await this.#forget(rest);
    else if (isNew) await this.#forget([successorHash]);
    return outcomeOf(kind, rest);
  }

  async revokeFamily(grantId: string): Promise<void> {
    const args = [milliseconds(REVOCATION_MEMORY_SECONDS)];
    const hashes = texts(await this.#redis.run(REVOKE, this.#familyKeys(grantId), args));
    await this.#forget(hashes);
  }

  async #grantOf(hash: string): Promise<string | null> {
    return textOrNull(await this.#redis.send('GET', this.#tokenKeyOf(hash)));
  }

  /** Says to which family a token will belong. False when that was said before. */
  async #announce(hash: string, grantId: string, ttlSeconds: number): Promise<boolean> {
    const args = [grantId, 'NX', 'PX', milliseconds(ttlSeconds)];
    return (await this.#redis.send('SET', this.#tokenKeyOf(hash), ...args)) === 'OK';
  }

  /** Tokens no family knows. A key that cannot be deleted now ends by itself. */
  async #forget(hashes: readonly string[]): Promise<void> {
    await Promise.allSettled(hashes.map((hash) => this.#redis.send('DEL', this.#tokenKeyOf(hash))));
  }

  #tokenKeyOf(hash: string): string {
    return keyOf(this.#redis, 'refresh-token', hash);
  }

  #familyKeys(grantId: string): readonly [family: string, grace: string, revocation: string] {
    return [
      keyOf(this.#redis, 'refresh-family', grantId),
      keyOf(this.#redis, 'refresh-grace', grantId),
      keyOf(this.#redis, 'revoked-family', grantId),
    ];
  }
}

function outcomeOf(
  kind: string | undefined,
  [sealedSuccessor]: readonly string[],
): RotationOutcome | null {
  if (kind === 'rotated' || kind === 'replayed') return { kind };
  if (kind === 'repeated' && sealedSuccessor !== undefined) return { kind, sealedSuccessor };
  return null;
}
