import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Rotation } from '../../proxy/store/refresh-token-store.ts';
import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;
const GRACE_SECONDS = 60;
const FAMILY = { grantId: 'grant-1' };

function rotationTo(successorHash: string, graceSeconds = GRACE_SECONDS): Rotation {
  return {
    successorHash,
    sealedSuccessor: `sealed ${successorHash}`,
    graceSeconds,
    ttlSeconds: 30 * DAY,
  };
}

describe.each(STORE_IMPLEMENTATIONS)('refresh token store in $name', (implementation) => {
  const { create, manyWrites, propertyRuns } = implementation;

  test('finds a token by its hash', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    expect(await refreshTokens.get('first')).toEqual(FAMILY);
    expect(await refreshTokens.get('other')).toBeNull();
  });

  test('puts the successor in the place of the token', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    const outcomes = [
      await refreshTokens.rotate('first', rotationTo('second')),
      await refreshTokens.rotate('second', rotationTo('third')),
    ];
    expect(outcomes).toEqual([{ kind: 'rotated' }, { kind: 'rotated' }]);
    expect(await refreshTokens.get('third')).toEqual(FAMILY);
  });

  test('still finds a rotated token, so that its replay is seen', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await refreshTokens.rotate('first', rotationTo('second'));
    expect(await refreshTokens.get('first')).toEqual(FAMILY);
  });

  test('rotates once for fifty who try at once, and gives the others the same successor', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    const outcomes = await fiftyAtOnce((index) =>
      refreshTokens.rotate('first', rotationTo(`successor-${String(index)}`)),
    );
    const repeated = outcomes.filter((outcome) => outcome?.kind === 'repeated');
    expect(outcomes.filter((outcome) => outcome?.kind === 'rotated')).toHaveLength(1);
    expect(repeated).toHaveLength(49);
    expect(new Set(repeated.map(({ sealedSuccessor }) => sealedSuccessor)).size).toBe(1);
  });

  test('has no successor but the first among those of concurrent rotations', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await Promise.all([
      refreshTokens.rotate('first', rotationTo('a')),
      refreshTokens.rotate('first', rotationTo('b')),
    ]);
    const found = await Promise.all([refreshTokens.get('a'), refreshTokens.get('b')]);
    expect(found.filter((record) => record !== null)).toHaveLength(1);
  });

  test('repeats the successor within the grace, and calls it a replay after', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await refreshTokens.rotate('first', rotationTo('second'));
    await under.advance(GRACE_SECONDS - MOMENT_SECONDS);
    expect(await refreshTokens.rotate('first', rotationTo('ignored'))).toEqual({
      kind: 'repeated',
      sealedSuccessor: 'sealed second',
    });
    await under.advance(MOMENT_SECONDS);
    expect(await refreshTokens.rotate('first', rotationTo('ignored'))).toEqual({
      kind: 'replayed',
    });
  });

  test('tells a replay from a token that may be rotated, or repeated within the grace', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    expect(await refreshTokens.isReplay('first')).toBe(false);
    await refreshTokens.rotate('first', rotationTo('second'));
    expect(await refreshTokens.isReplay('first')).toBe(false);
    expect(await refreshTokens.isReplay('second')).toBe(false);
    await under.advance(GRACE_SECONDS);
    expect(await refreshTokens.isReplay('first')).toBe(true);
    await refreshTokens.rotate('second', rotationTo('third'));
    expect(await refreshTokens.isReplay('first')).toBe(true);
    expect(await refreshTokens.isReplay('second')).toBe(false);
    await refreshTokens.revokeFamily(FAMILY.grantId);
    expect(await refreshTokens.isReplay('first')).toBe(false);
    expect(await refreshTokens.isReplay('unknown')).toBe(false);
  });

  test('ends the grace with the first use of the successor', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await refreshTokens.rotate('first', rotationTo('second'));
    await refreshTokens.rotate('second', rotationTo('third'));
    expect(await refreshTokens.rotate('first', rotationTo('ignored'))).toEqual({
      kind: 'replayed',
    });
    expect(await refreshTokens.rotate('second', rotationTo('ignored'))).toEqual({
      kind: 'repeated',
      sealedSuccessor: 'sealed third',
    });
  });

  test('does not end the grace when the successor is only looked at', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await refreshTokens.rotate('first', rotationTo('second'));
    await refreshTokens.get('second');
    const outcome = await refreshTokens.rotate('first', rotationTo('ignored'));
    expect(outcome?.kind).toBe('repeated');
  });

  test('calls every repetition a replay when there is no grace', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    const outcomes = await fiftyAtOnce(() =>
      refreshTokens.rotate('first', rotationTo('second', 0)),
    );
    expect(outcomes.filter((outcome) => outcome?.kind === 'rotated')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome?.kind === 'replayed')).toHaveLength(49);
  });

  test('does not rotate a token that is unknown or expired', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await under.advance(DAY);
    expect(await refreshTokens.get('first')).toBeNull();
    expect(await refreshTokens.rotate('first', rotationTo('second'))).toBeNull();
    expect(await refreshTokens.rotate('unknown', rotationTo('second'))).toBeNull();
    expect(await refreshTokens.get('second')).toBeNull();
  });

  test('lets a successor live for its own time', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await refreshTokens.rotate('first', rotationTo('second'));
    await under.advance(30 * DAY - MOMENT_SECONDS);
    expect(await refreshTokens.get('second')).toEqual(FAMILY);
    await under.advance(MOMENT_SECONDS);
    expect(await refreshTokens.get('second')).toBeNull();
  });

  test('ends every token of a revoked family, and none of another', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('first', FAMILY, DAY);
    await refreshTokens.save('other', { grantId: 'grant-2' }, DAY);
    await refreshTokens.rotate('first', rotationTo('second'));
    await refreshTokens.revokeFamily('grant-1');
    expect(await refreshTokens.get('first')).toBeNull();
    expect(await refreshTokens.get('second')).toBeNull();
    expect(await refreshTokens.rotate('first', rotationTo('third'))).toBeNull();
    expect(await refreshTokens.rotate('second', rotationTo('third'))).toBeNull();
    expect(await refreshTokens.get('other')).toEqual({ grantId: 'grant-2' });
  });

  test('stays revoked when a code was reused before its redemption saved the token', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.revokeFamily('grant-1');
    await refreshTokens.save('first', FAMILY, DAY);
    expect(await refreshTokens.get('first')).toBeNull();
  });

  // A signed-in user refreshes in a loop until everybody else's refresh tokens are forgotten.
  test('keeps the token of a grant, however often another grant is refreshed', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('victim', { grantId: 'grant-2' }, DAY);
    await refreshTokens.save('victim-in-grace', { grantId: 'grant-3' }, DAY);
    await refreshTokens.rotate('victim-in-grace', rotationTo('victim-successor'));
    await refreshTokens.save('token-0', FAMILY, DAY);
    for (let index = 0; index < manyWrites; index += 1) {
      await refreshTokens.rotate(
        `token-${String(index)}`,
        rotationTo(`token-${String(index + 1)}`),
      );
    }
    expect(await refreshTokens.get('victim')).toEqual({ grantId: 'grant-2' });
    expect(await refreshTokens.rotate('victim-in-grace', rotationTo('ignored'))).toEqual({
      kind: 'repeated',
      sealedSuccessor: 'sealed victim-successor',
    });
    expect(await refreshTokens.get(`token-${String(manyWrites)}`)).toEqual(FAMILY);
  });

  test('sees the replay of a recent predecessor, and accepts no older one', async () => {
    await using under = await create();
    const { refreshTokens } = under.stores;
    await refreshTokens.save('token-0', FAMILY, DAY);
    for (let index = 0; index < 40; index += 1) {
      await refreshTokens.rotate(
        `token-${String(index)}`,
        rotationTo(`token-${String(index + 1)}`),
      );
    }
    expect(await refreshTokens.rotate('token-8', rotationTo('ignored'))).toEqual({
      kind: 'replayed',
    });
    const outcome = await refreshTokens.rotate('token-0', rotationTo('ignored'));
    expect(outcome?.kind ?? 'unknown').toMatch(/^(unknown|replayed)$/);
    expect(await refreshTokens.get('ignored')).toBeNull();
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
        await refreshTokens.save('token-0', FAMILY, DAY);
        const rotated: number[] = [];
        for (const each of steps) {
          if ('wait' in each) {
            await under.advance(each.wait);
            continue;
          }
          const next = rotationTo(`token-${String(each.token + 1)}`);
          const outcome = await refreshTokens.rotate(`token-${String(each.token)}`, next);
          if (outcome?.kind === 'rotated') rotated.push(each.token);
        }
        expect(rotated).toEqual(rotated.map((_, index) => index));
      }),
      { numRuns: propertyRuns },
    );
  });
});
