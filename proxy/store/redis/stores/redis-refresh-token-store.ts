import type { RefreshTokenReference } from '../../../records/refresh-token-reference.ts';
import type {
  RefreshTokenState,
  RefreshTokenStore,
  Rotation,
  RotationOutcome,
} from '../../refresh-token-store.ts';
import { REVOCATION_MEMORY_SECONDS } from '../../revocation-memory.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { textsReply } from '../connection/replies.ts';

/**
 * KEYS: family, revocation. ARGV: generation, token, lifetime in milliseconds.
 *
 * If a code is redeemed twice at once, its family is revoked before the first token is saved (RFC
 * 9700, 4.5): that token must not become valid.
 */
const SAVE: RedisScript = {
  keyCount: 2,
  lua: `
    if redis.call('EXISTS', KEYS[2]) == 1 then return end
    if redis.call('HGET', KEYS[1], 'predecessor') then return end
    redis.call('HSET', KEYS[1], 'generation', ARGV[1], 'current', ARGV[2])
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
  `,
};

/**
 * Returns the state of a token, and its sealed successor if it is repeatable. KEYS: family, grace.
 */
const STATE = `
  local function stateOf(generation, hash)
    local current = tonumber(redis.call('HGET', KEYS[1], 'generation'))
    if not current or generation > current then return 'unknown' end
    if generation == current then
      return redis.call('HGET', KEYS[1], 'current') == hash and 'current' or 'unknown'
    end
    local isLast = redis.call('HGET', KEYS[1], 'predecessor') == hash
    local sealed = isLast and redis.call('GET', KEYS[2])
    if sealed then return 'repeatable', sealed end
    return 'replayed'
  end
`;

/** KEYS: family, grace. ARGV: generation, token. */
const STATE_OF: RedisScript = {
  keyCount: 2,
  lua: `
    ${STATE}
    return {(stateOf(tonumber(ARGV[1]), ARGV[2]))}
  `,
};

/**
 * KEYS: family, grace. ARGV: generation, token, the next generation, successor, sealed successor,
 * grace and lifetime in milliseconds. Returns the previous state of the token, and the sealed successor
 * if it is to be repeated.
 */
const ROTATE: RedisScript = {
  keyCount: 2,
  lua: `
    ${STATE}
    local state, sealed = stateOf(tonumber(ARGV[1]), ARGV[2])
    if state ~= 'current' then return {state, sealed} end
    redis.call('HSET', KEYS[1], 'generation', ARGV[3], 'current', ARGV[4], 'predecessor', ARGV[2])
    redis.call('PEXPIRE', KEYS[1], ARGV[7])
    if tonumber(ARGV[6]) > 0 then
      redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6])
    else
      redis.call('DEL', KEYS[2])
    end
    return {state}
  `,
};

/**
 * KEYS: family, grace, revocation. ARGV: how long the revocation is remembered, in milliseconds.
 *
 * Deletes first: a Redis without free memory refuses a script if its first write needs memory.
 */
const REVOKE: RedisScript = {
  keyCount: 3,
  lua: `
    redis.call('DEL', KEYS[1], KEYS[2])
    redis.call('SET', KEYS[3], '1', 'PX', ARGV[1])
  `,
};

/**
 * Refresh tokens of all proxies.
 *
 * The sealed successor has a key of its own, which expires with the grace.
 */
export class RedisRefreshTokenStore implements RefreshTokenStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async save(token: RefreshTokenReference, ttlSeconds: number): Promise<void> {
    const { grantId, generation, hash } = token;
    const keys = [this.#familyKeyOf(grantId), this.#revocationKeyOf(grantId)];
    await this.#redis.run(SAVE, keys, [generation, hash, milliseconds(ttlSeconds)]);
  }

  async stateOf(token: RefreshTokenReference): Promise<RefreshTokenState | null> {
    const { grantId, generation, hash } = token;
    const keys = [this.#familyKeyOf(grantId), this.#graceKeyOf(grantId)];
    const [state] = textsReply(await this.#redis.run(STATE_OF, keys, [generation, hash]));
    return isKnown(state) ? state : null;
  }

  async rotate(token: RefreshTokenReference, rotation: Rotation): Promise<RotationOutcome | null> {
    const { grantId, generation, hash } = token;
    const { successorHash, sealedSuccessor, graceSeconds, ttlSeconds } = rotation;
    const grace = graceSeconds > 0 ? milliseconds(graceSeconds) : 0;
    const keys = [this.#familyKeyOf(grantId), this.#graceKeyOf(grantId)];
    const successor = [generation + 1, successorHash, sealedSuccessor];
    const args = [generation, hash, ...successor, grace, milliseconds(ttlSeconds)];
    const [state, sealed] = textsReply(await this.#redis.run(ROTATE, keys, args));
    return outcomeOf(state, sealed);
  }

  async revokeFamily(grantId: string): Promise<void> {
    const family = [this.#familyKeyOf(grantId), this.#graceKeyOf(grantId)];
    const keys = [...family, this.#revocationKeyOf(grantId)];
    await this.#redis.run(REVOKE, keys, [milliseconds(REVOCATION_MEMORY_SECONDS)]);
  }

  #familyKeyOf(grantId: string): string {
    return keyOf(this.#redis, 'refresh-family', grantId);
  }

  #graceKeyOf(grantId: string): string {
    return keyOf(this.#redis, 'refresh-grace', grantId);
  }

  #revocationKeyOf(grantId: string): string {
    return keyOf(this.#redis, 'revoked-family', grantId);
  }
}

function isKnown(state: string | undefined): state is RefreshTokenState {
  return state === 'current' || state === 'repeatable' || state === 'replayed';
}

function outcomeOf(state: string | undefined, sealed: string | undefined): RotationOutcome | null {
  if (state === 'current') return { kind: 'rotated' };
  if (state === 'replayed') return { kind: 'replayed' };
  if (state === 'repeatable' && sealed !== undefined) {
    return { kind: 'repeated', sealedSuccessor: sealed };
  }
  return null;
}
