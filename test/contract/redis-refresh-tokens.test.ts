import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { MemoryRefreshTokenStore } from '../../proxy/store/memory/memory-refresh-token-store.ts';
import type { RefreshTokenStore } from '../../proxy/store/refresh-token-store.ts';
import type {
  RedisCommands,
  RedisReply,
} from '../../proxy/store/redis/connection/redis-commands.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { RedisRefreshTokenStore } from '../../proxy/store/redis/stores/redis-refresh-token-store.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { connectionTo } from './redis-stores-under-test.ts';
import {
  aToken,
  GRACE_SECONDS,
  GRANT_ID,
  rotationTo,
  rotationToGeneration,
  tokenOf,
} from './refresh-tokens.ts';

const DAY = 86_400;

const FIRST = aToken('first');
const SECOND = aToken('second', 1);

/** Keys of one family: the family itself, and its grace. */
const KEYS_OF_A_FAMILY = 2;

/** More commands than an operation sends. */
const MOST_COMMANDS = 2;

/** Random steps: an operation, the age of its token, and the time that passes. */
const STEPS = fc.array(
  fc.record({
    act: fc.constantFrom('rotate', 'rotate', 'rotate', 'look', 'save', 'revoke', 'wait'),
    age: fc.oneof(fc.constant(0), fc.nat({ max: 40 })),
    // Multiples of seven, so that no sum of waits is a lifetime, where a millisecond decides.
    sevens: fc.constantFrom(1, 3, 1500),
  }),
  { minLength: 30, maxLength: 60 },
);

/** Commands of a proxy that dies after some commands; the reply to the last may be lost. */
function dyingAfter(commands: number, redis: RedisCommands, isLastHeard: boolean): RedisCommands {
  let sent = 0;
  const next = async (send: () => Promise<RedisReply>): Promise<RedisReply> => {
    sent += 1;
    if (sent > commands) throw new Error('died');
    const reply = await send();
    if (sent === commands && !isLastHeard) throw new Error('died');
    return reply;
  };
  return {
    prefix: redis.prefix,
    send: (command, ...args) => next(() => redis.send(command, ...args)),
    run: (script, keys, args) => next(() => redis.run(script, keys, args)),
  };
}

describeWithRedis('refresh tokens in Redis', () => {
  let redis: TestRedis;
  let connection: RedisConnection;
  let tokens: RefreshTokenStore;

  async function keys(pattern = '*'): Promise<readonly string[]> {
    const found = [await redis.send('KEYS', connection.prefix + pattern)].flat();
    return found.map(String).sort();
  }

  beforeAll(async () => {
    redis = await startRedis();
    connection = await connectionTo(redis.url);
    tokens = new RedisRefreshTokenStore(connection);
  });

  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await redis.send('FLUSHALL');
  });

  test('take two keys however often a client refreshes', async () => {
    await tokens.save(tokenOf(0), DAY);
    for (let index = 0; index < 100; index += 1) {
      await tokens.rotate(tokenOf(index), rotationToGeneration(index + 1));
      expect(await keys()).toHaveLength(KEYS_OF_A_FAMILY);
    }
  });

  test('take no key for a successor that was not rotated to', async () => {
    await tokens.save(FIRST, DAY);
    await tokens.rotate(FIRST, rotationTo('second'));
    const before = await keys();
    await tokens.rotate(FIRST, rotationTo('third'));
    expect(await keys()).toEqual(before);
  });

  test('take no key but the revocation once the family is revoked', async () => {
    await tokens.save(FIRST, DAY);
    await tokens.rotate(FIRST, rotationTo('second'));
    await tokens.revokeFamily(GRANT_ID);
    await tokens.save(aToken('late'), DAY);
    expect(await keys()).toEqual([`${connection.prefix}revoked-family:{grant-1}`]);
  });

  test('leave no sealed successor behind when the grace ends', async () => {
    await tokens.save(FIRST, DAY);
    await tokens.rotate(FIRST, rotationTo('second'));
    expect(await keys('refresh-grace:*')).toHaveLength(1);
    redis.advance(GRACE_SECONDS + 1);
    expect(await keys('refresh-grace:*')).toEqual([]);
  });

  test('leave no sealed successor behind when it is used', async () => {
    await tokens.save(FIRST, DAY);
    await tokens.rotate(FIRST, rotationTo('second'));
    await tokens.rotate(SECOND, rotationTo('third', 0));
    expect(await keys('refresh-grace:*')).toEqual([]);
  });

  test('never keep a sealed successor without a grace', async () => {
    await tokens.save(FIRST, DAY);
    await tokens.rotate(FIRST, rotationTo('second', 0));
    expect(await keys('refresh-grace:*')).toEqual([]);
  });

  const deaths = Array.from({ length: MOST_COMMANDS }, (_, commands) => [
    { commands, isLastHeard: true },
    { commands, isLastHeard: false },
  ]).flat();

  test.each(deaths)(
    'outlive a proxy that dies in a rotation (commands: $commands, the last answered: $isLastHeard)',
    async ({ commands, isLastHeard }) => {
      await tokens.save(FIRST, DAY);
      const dying = new RedisRefreshTokenStore(dyingAfter(commands, connection, isLastHeard));
      await dying.rotate(FIRST, rotationTo('lost')).catch(() => undefined);
      // The client received no answer, and retries at another proxy.
      const outcome = await tokens.rotate(FIRST, rotationTo('second'));
      const isLost = outcome?.kind === 'repeated';
      expect(isLost).toBe(commands > 0);
      const hashes = isLost ? ['lost', 'second'] : ['second', 'lost'];
      const [live = FIRST, dead = FIRST] = hashes.map((hash) => aToken(hash, 1));
      expect(outcome).toEqual(
        isLost ? { kind: 'repeated', sealedSuccessor: 'sealed lost' } : { kind: 'rotated' },
      );
      expect(await tokens.rotate(dead, rotationTo('branch'))).toBeNull();
      expect(await tokens.stateOf(live)).toBe('current');
      expect(await tokens.rotate(live, rotationTo('third'))).toEqual({ kind: 'rotated' });
      expect(await tokens.rotate(FIRST, rotationTo('fourth'))).toEqual({ kind: 'replayed' });
    },
  );

  test.each(deaths)(
    'are revoked or whole when a proxy dies in a revocation (commands: $commands, the last answered: $isLastHeard)',
    async ({ commands, isLastHeard }) => {
      await tokens.save(FIRST, DAY);
      await tokens.rotate(FIRST, rotationTo('second'));
      const dying = new RedisRefreshTokenStore(dyingAfter(commands, connection, isLastHeard));
      await dying.revokeFamily(GRANT_ID).catch(() => undefined);
      const states = [await tokens.stateOf(FIRST), await tokens.stateOf(SECOND)];
      expect(states).toEqual(commands === 0 ? ['repeatable', 'current'] : [null, null]);
      const outcome = await tokens.rotate(SECOND, rotationTo('third'));
      expect(outcome).toEqual(commands === 0 ? { kind: 'rotated' } : null);
    },
  );

  test('behave as in memory under any operations', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        await redis.send('FLUSHALL');
        const both = [tokens, new MemoryRefreshTokenStore(() => redis.now())];
        const made = [aToken('first')];
        for (const each of both) await each.save(FIRST, DAY);
        for (const [index, { act, age, sevens }] of steps.entries()) {
          const token = made.at(-1 - age) ?? aToken('unknown', age);
          const next = `token-${String(index + 1)}`;
          const outcomes: unknown[] = [];
          for (const each of both) {
            if (act === 'rotate') outcomes.push(await each.rotate(token, rotationTo(next)));
            if (act === 'look') outcomes.push(await each.stateOf(token));
            if (act === 'save') await each.save(aToken(next), DAY);
            if (act === 'revoke' && age > 35) await each.revokeFamily(GRANT_ID);
          }
          if (act === 'wait') redis.advance(7 * sevens);
          expect([act, token, outcomes[0]]).toEqual([act, token, outcomes[1]]);
          if (isDeepStrictEqual(outcomes[0], { kind: 'rotated' })) {
            made.push(aToken(next, token.generation + 1));
          }
          if (act === 'save' && made.length === 1) made[0] = aToken(next);
        }
      }),
      { numRuns: 25 },
    );
  });
});
