import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { MemoryRefreshTokenStore } from '../../proxy/store/memory/memory-refresh-token-store.ts';
import type { RefreshTokenStore, Rotation } from '../../proxy/store/refresh-token-store.ts';
import type {
  RedisCommands,
  RedisConnection,
  RedisReply,
} from '../../proxy/store/redis/redis-connection.ts';
import { RedisRefreshTokenStore } from '../../proxy/store/redis/redis-refresh-token-store.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { connectionTo } from './redis-stores-under-test.ts';

const DAY = 86_400;
const GRACE_SECONDS = 60;
const FAMILY = { grantId: 'grant-1' };

/** The current token, 32 predecessors, the family and its grace. */
const MOST_KEYS_OF_A_FAMILY = 35;

/** More than rotation sends. */
const MOST_COMMANDS = 6;

/** Of a property: what is done, to which of the last tokens, and how much time passes. */
const STEPS = fc.array(
  fc.record({
    act: fc.constantFrom('rotate', 'rotate', 'rotate', 'get', 'revoke', 'wait'),
    age: fc.oneof(fc.constant(0), fc.nat({ max: 40 })),
    // Times seven: no sum of waits is a lifetime, where a millisecond decides.
    sevens: fc.constantFrom(1, 3, 1500),
  }),
  { minLength: 30, maxLength: 60 },
);

function rotationTo(successorHash: string, graceSeconds = GRACE_SECONDS): Rotation {
  const sealedSuccessor = `sealed ${successorHash}`;
  return { successorHash, sealedSuccessor, graceSeconds, ttlSeconds: 30 * DAY };
}

/** Commands of a proxy that dies: so many reach Redis, and of the last the answer is lost. */
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

  test('take no more keys, however often a client refreshes', async () => {
    await tokens.save('token-0', FAMILY, DAY);
    for (let index = 0; index < 100; index += 1) {
      const next = rotationTo(`token-${String(index + 1)}`);
      await tokens.rotate(`token-${String(index)}`, next);
      expect((await keys()).length).toBeLessThanOrEqual(MOST_KEYS_OF_A_FAMILY);
    }
  });

  test('take no key for a successor that did not become one', async () => {
    await tokens.save('first', FAMILY, DAY);
    await tokens.rotate('first', rotationTo('second'));
    const before = await keys();
    await tokens.rotate('first', rotationTo('third'));
    expect(await keys()).toEqual(before);
  });

  test('take no key but the revocation once the family is revoked', async () => {
    await tokens.save('first', FAMILY, DAY);
    await tokens.rotate('first', rotationTo('second'));
    await tokens.revokeFamily('grant-1');
    await tokens.save('late', FAMILY, DAY);
    expect(await keys()).toEqual([`${connection.prefix}revoked-family:{grant-1}`]);
  });

  test('leave no sealed successor behind when the grace ends', async () => {
    await tokens.save('first', FAMILY, DAY);
    await tokens.rotate('first', rotationTo('second'));
    expect(await keys('refresh-grace:*')).toHaveLength(1);
    redis.advance(GRACE_SECONDS + 1);
    expect(await keys('refresh-grace:*')).toEqual([]);
  });

  test('leave no sealed successor behind when it is used', async () => {
    await tokens.save('first', FAMILY, DAY);
    await tokens.rotate('first', rotationTo('second'));
    await tokens.rotate('second', rotationTo('third', 0));
    expect(await keys('refresh-grace:*')).toEqual([]);
  });

  test('never keep a sealed successor without a grace', async () => {
    await tokens.save('first', FAMILY, DAY);
    await tokens.rotate('first', rotationTo('second', 0));
    expect(await keys('refresh-grace:*')).toEqual([]);
  });

  const deaths = Array.from({ length: MOST_COMMANDS }, (_, commands) => [
    { commands, isLastHeard: true },
    { commands, isLastHeard: false },
  ]).flat();

  test.each(deaths)(
    'outlive a proxy that dies in a rotation (commands: $commands, the last answered: $isLastHeard)',
    async ({ commands, isLastHeard }) => {
      await tokens.save('first', FAMILY, DAY);
      const dying = new RedisRefreshTokenStore(dyingAfter(commands, connection, isLastHeard));
      await dying.rotate('first', rotationTo('lost')).catch(() => undefined);
      // Its client heard nothing, and tries again at another proxy.
      const outcome = await tokens.rotate('first', rotationTo('second'));
      const isLost = outcome?.kind === 'repeated';
      const [live, dead] = isLost ? ['lost', 'second'] : ['second', 'lost'];
      expect(outcome).toEqual(
        isLost ? { kind: 'repeated', sealedSuccessor: 'sealed lost' } : { kind: 'rotated' },
      );
      expect(await tokens.rotate(dead, rotationTo('branch'))).toBeNull();
      expect(await tokens.get(live)).toEqual(FAMILY);
      expect(await tokens.rotate(live, rotationTo('third'))).toEqual({ kind: 'rotated' });
      expect(await tokens.rotate('first', rotationTo('fourth'))).toEqual({ kind: 'replayed' });
    },
  );

  test.each(deaths)(
    'are revoked or whole when a proxy dies in a revocation (commands: $commands, the last answered: $isLastHeard)',
    async ({ commands, isLastHeard }) => {
      await tokens.save('first', FAMILY, DAY);
      await tokens.rotate('first', rotationTo('second'));
      const dying = new RedisRefreshTokenStore(dyingAfter(commands, connection, isLastHeard));
      await dying.revokeFamily('grant-1').catch(() => undefined);
      const found = [await tokens.get('first'), await tokens.get('second')];
      expect(found).toEqual(commands === 0 ? [FAMILY, FAMILY] : [null, null]);
      const outcome = await tokens.rotate('second', rotationTo('third'));
      expect(outcome).toEqual(commands === 0 ? { kind: 'rotated' } : null);
    },
  );

  test('are what they are in memory, whatever is done to them', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        await redis.send('FLUSHALL');
        const both = [tokens, new MemoryRefreshTokenStore(() => redis.now())];
        const made = ['token-0'];
        for (const each of both) await each.save('token-0', FAMILY, DAY);
        for (const [index, { act, age, sevens }] of steps.entries()) {
          const token = made.at(-1 - age) ?? 'unknown';
          const next = `token-${String(index + 1)}`;
          const outcomes: unknown[] = [];
          for (const each of both) {
            if (act === 'rotate') outcomes.push(await each.rotate(token, rotationTo(next)));
            if (act === 'get') outcomes.push(await each.get(token));
            if (act === 'revoke' && age > 35) await each.revokeFamily(FAMILY.grantId);
          }
          if (act === 'wait') redis.advance(7 * sevens);
          expect([act, token, outcomes[0]]).toEqual([act, token, outcomes[1]]);
          if (isDeepStrictEqual(outcomes[0], { kind: 'rotated' })) made.push(next);
        }
      }),
      { numRuns: 25 },
    );
  });
});
