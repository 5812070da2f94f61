import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  aToken,
  GRACE_SECONDS,
  GRANT_ID,
  rotationTo,
  rotationToGeneration,
  tokenOf,
} from './refresh-tokens.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;

const FIRST = aToken('first');
const SECOND = aToken('second', 1);
const THIRD = aToken('third', 2);

describe.each(STORE_IMPLEMENTATIONS)('refresh token store in $name', (implementation) => {
  const { create, manyWrites, propertyRuns } = implementation;

  test('knows the saved token, and no different one of its generation', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    expect(await refreshTokens.stateOf(FIRST)).toBe('current');
    expect(await refreshTokens.stateOf(aToken('made-up'))).toBeNull();
    expect(await refreshTokens.stateOf(aToken('first', 0, 'grant-2'))).toBeNull();
  });

  // The redemption of a code failed after it saved a token that no client received, and is repeated.
  test('accepts a different first token until one was rotated', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(aToken('of the failed attempt'), DAY);
    await refreshTokens.save(FIRST, DAY);
    expect(await refreshTokens.stateOf(aToken('of the failed attempt'))).toBeNull();
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    await refreshTokens.save(aToken('late'), DAY);
    expect(await refreshTokens.stateOf(SECOND)).toBe('current');
  });

  test('replaces the token by its successor', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    const outcomes = [
      await refreshTokens.rotate(FIRST, rotationTo('second')),
      await refreshTokens.rotate(SECOND, rotationTo('third')),
    ];
    expect(outcomes).toEqual([{ kind: 'rotated' }, { kind: 'rotated' }]);
    expect(await refreshTokens.stateOf(THIRD)).toBe('current');
  });

  test('accepts no token of a later generation', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    for (const token of [aToken('first', 1), SECOND, THIRD]) {
      expect(await refreshTokens.stateOf(token)).toBeNull();
      expect(await refreshTokens.rotate(token, rotationTo('branch'))).toBeNull();
    }
    expect(await refreshTokens.stateOf(FIRST)).toBe('current');
  });

  // The store lost a rotation: a client has the successor, and a second one was made since.
  test('accepts no different token of the current generation', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    const lost = aToken('lost', 1);
    expect(await refreshTokens.stateOf(lost)).toBeNull();
    expect(await refreshTokens.rotate(lost, rotationTo('branch'))).toBeNull();
    expect(await refreshTokens.stateOf(SECOND)).toBe('current');
  });

  test('rotates once for fifty concurrent calls, and gives all others the same successor', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    const outcomes = await fiftyAtOnce((index) =>
      refreshTokens.rotate(FIRST, rotationTo(`successor-${String(index)}`)),
    );
    const repeated = outcomes.filter((outcome) => outcome?.kind === 'repeated');
    expect(outcomes.filter((outcome) => outcome?.kind === 'rotated')).toHaveLength(1);
    expect(repeated).toHaveLength(49);
    expect(new Set(repeated.map(({ sealedSuccessor }) => sealedSuccessor)).size).toBe(1);
  });

  test('accepts only the first successor of concurrent rotations', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await Promise.all([
      refreshTokens.rotate(FIRST, rotationTo('a')),
      refreshTokens.rotate(FIRST, rotationTo('b')),
    ]);
    const successors = [aToken('a', 1), aToken('b', 1)];
    const states = await Promise.all(successors.map((token) => refreshTokens.stateOf(token)));
    expect(states.filter((state) => state !== null)).toEqual(['current']);
  });

  test('repeats the successor within the grace, and reports a replay after it', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    await under.advance(GRACE_SECONDS - MOMENT_SECONDS);
    expect(await refreshTokens.rotate(FIRST, rotationTo('ignored'))).toEqual({
      kind: 'repeated',
      sealedSuccessor: 'sealed second',
    });
    await under.advance(MOMENT_SECONDS);
    expect(await refreshTokens.rotate(FIRST, rotationTo('ignored'))).toEqual({
      kind: 'replayed',
    });
  });

  test('distinguishes current, repeatable and replayed tokens', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    expect(await refreshTokens.stateOf(FIRST)).toBe('current');
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    expect(await refreshTokens.stateOf(FIRST)).toBe('repeatable');
    expect(await refreshTokens.stateOf(SECOND)).toBe('current');
    await under.advance(GRACE_SECONDS);
    expect(await refreshTokens.stateOf(FIRST)).toBe('replayed');
    await refreshTokens.rotate(SECOND, rotationTo('third'));
    expect(await refreshTokens.stateOf(FIRST)).toBe('replayed');
    expect(await refreshTokens.stateOf(SECOND)).toBe('repeatable');
    await refreshTokens.revokeFamily(GRANT_ID);
    for (const token of [FIRST, SECOND, THIRD]) {
      expect(await refreshTokens.stateOf(token)).toBeNull();
    }
  });

  test('ends the grace with the first use of the successor', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    await refreshTokens.rotate(SECOND, rotationTo('third'));
    expect(await refreshTokens.rotate(FIRST, rotationTo('ignored'))).toEqual({
      kind: 'replayed',
    });
    expect(await refreshTokens.rotate(SECOND, rotationTo('ignored'))).toEqual({
      kind: 'repeated',
      sealedSuccessor: 'sealed third',
    });
  });

  test('does not end the grace if only the state of the successor is read', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    await refreshTokens.stateOf(SECOND);
    const outcome = await refreshTokens.rotate(FIRST, rotationTo('ignored'));
    expect(outcome?.kind).toBe('repeated');
  });

  test('reports every repetition as a replay without a grace', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    const outcomes = await fiftyAtOnce(() => refreshTokens.rotate(FIRST, rotationTo('second', 0)));
    expect(outcomes.filter((outcome) => outcome?.kind === 'rotated')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome?.kind === 'replayed')).toHaveLength(49);
  });

  test('does not rotate a token that is unknown or expired', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await under.advance(DAY);
    expect(await refreshTokens.stateOf(FIRST)).toBeNull();
    expect(await refreshTokens.rotate(FIRST, rotationTo('second'))).toBeNull();
    expect(await refreshTokens.rotate(aToken('unknown'), rotationTo('second'))).toBeNull();
    expect(await refreshTokens.stateOf(SECOND)).toBeNull();
  });

  test('gives a successor its own lifetime', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, DAY);
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    await under.advance(30 * DAY - MOMENT_SECONDS);
    expect(await refreshTokens.stateOf(SECOND)).toBe('current');
    await under.advance(MOMENT_SECONDS);
    expect(await refreshTokens.stateOf(SECOND)).toBeNull();
  });

  test('ends every token of a revoked family, and no token of a different one', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    const other = aToken('other', 0, 'grant-2');
    await refreshTokens.save(FIRST, DAY);
    await refreshTokens.save(other, DAY);
    await refreshTokens.rotate(FIRST, rotationTo('second'));
    await refreshTokens.revokeFamily(GRANT_ID);
    for (const token of [FIRST, SECOND]) {
      expect(await refreshTokens.stateOf(token)).toBeNull();
      expect(await refreshTokens.rotate(token, rotationTo('third'))).toBeNull();
    }
    expect(await refreshTokens.stateOf(other)).toBe('current');
  });

  test('ends predecessors with the current token', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(FIRST, 30 * DAY);
    const shorter = { ...rotationTo('second'), ttlSeconds: DAY };
    await refreshTokens.rotate(FIRST, shorter);
    await under.advance(DAY - MOMENT_SECONDS);
    expect(await refreshTokens.stateOf(FIRST)).toBe('replayed');
    expect(await refreshTokens.stateOf(SECOND)).toBe('current');
    await under.advance(MOMENT_SECONDS);
    for (const token of [FIRST, SECOND]) {
      expect(await refreshTokens.stateOf(token)).toBeNull();
    }
  });

  test('stays revoked when a code was reused before its redemption saved the token', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.revokeFamily(GRANT_ID);
    await refreshTokens.save(FIRST, DAY);
    expect(await refreshTokens.stateOf(FIRST)).toBeNull();
  });

  // A signed-in user refreshes in a loop until everybody else's refresh tokens are forgotten.
  test('keeps the token of a grant however often a different grant is refreshed', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    const victim = aToken('victim', 0, 'grant-2');
    const victimInGrace = aToken('victim-in-grace', 0, 'grant-3');
    await refreshTokens.save(victim, DAY);
    await refreshTokens.save(victimInGrace, DAY);
    await refreshTokens.rotate(victimInGrace, rotationTo('victim-successor'));
    await refreshTokens.save(tokenOf(0), DAY);
    for (let index = 0; index < manyWrites; index += 1) {
      await refreshTokens.rotate(tokenOf(index), rotationToGeneration(index + 1));
    }
    expect(await refreshTokens.stateOf(victim)).toBe('current');
    expect(await refreshTokens.rotate(victimInGrace, rotationTo('ignored'))).toEqual({
      kind: 'repeated',
      sealedSuccessor: 'sealed victim-successor',
    });
    expect(await refreshTokens.stateOf(tokenOf(manyWrites))).toBe('current');
    expect(await refreshTokens.stateOf(tokenOf(0))).toBe('replayed');
  });

  // A thief rotates on until the token that the victim holds is forgotten.
  test('reports the replay of every predecessor, however old', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save(tokenOf(0), DAY);
    for (let index = 0; index < 100; index += 1) {
      await refreshTokens.rotate(tokenOf(index), rotationToGeneration(index + 1));
    }
    for (let index = 0; index < 99; index += 1) {
      expect(await refreshTokens.rotate(tokenOf(index), rotationTo('branch'))).toEqual({
        kind: 'replayed',
      });
    }
    expect(await refreshTokens.stateOf(aToken('branch', 100))).toBeNull();
  });

  test('rotates each token at most once, whatever the order of attempts', async () => {
    const step = fc.oneof(
      fc.record({ token: fc.nat({ max: 5 }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 2 * GRACE_SECONDS }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        await using under = await create();
        const { refreshTokens } = under.stores;
        await refreshTokens.save(tokenOf(0), DAY);
        const rotated: number[] = [];
        for (const each of steps) {
          if ('wait' in each) {
            await under.advance(each.wait);
            continue;
          }
          const next = rotationTo(tokenOf(each.token + 1).hash);
          const outcome = await refreshTokens.rotate(tokenOf(each.token), next);
          if (outcome?.kind === 'rotated') rotated.push(each.token);
        }
        expect(rotated).toEqual(rotated.map((_, index) => index));
      }),
      { numRuns: propertyRuns },
    );
  });
});
