import { describe, expect, test } from '@jest/globals';

import { PacedChanges } from '../../../../shared/runtime/paced-changes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const INTERVAL_MS = 60_000;

function world(): {
  readonly clock: ManualClock;
  readonly changes: PacedChanges<string>;
  readonly shown: string[];
} {
  const clock = new ManualClock();
  const shown: string[] = [];
  const changes = new PacedChanges<string>({
    clock,
    intervalMs: INTERVAL_MS,
    isSame: (one, other) => one.toLowerCase() === other.toLowerCase(),
    onChange: (key, value) => shown.push(`${key}=${value}`),
  });
  return { clock, changes, shown };
}

describe('paced changes', () => {
  test('show the first value under each key at once', () => {
    const { changes, shown } = world();
    changes.set('a', '1');
    changes.set('b', '2');

    expect(shown).toEqual(['a=1', 'b=2']);
    expect(changes.get('a')).toBe('1');
    expect(changes.get('c')).toBeUndefined();
  });

  test('show the newest of several changes, an interval after the last change', async () => {
    const { clock, changes, shown } = world();
    changes.set('a', '1');
    await clock.advance(INTERVAL_MS / 2);
    changes.set('a', '2');
    changes.set('a', '3');

    expect(changes.get('a')).toBe('1');
    await clock.advance(INTERVAL_MS / 2);
    expect(shown).toEqual(['a=1', 'a=3']);
    changes.set('a', '4');
    await clock.advance(INTERVAL_MS - 1);
    expect(shown).toEqual(['a=1', 'a=3']);
    await clock.advance(1);
    expect(shown).toEqual(['a=1', 'a=3', 'a=4']);
  });

  test('show a change at once if the last one was long ago', async () => {
    const { clock, changes, shown } = world();
    changes.set('a', '1');
    await clock.advance(INTERVAL_MS);
    changes.set('a', '2');

    expect(shown).toEqual(['a=1', 'a=2']);
  });

  test('do not show what changes back meanwhile', async () => {
    const { clock, changes, shown } = world();
    changes.set('a', 'x');
    changes.set('a', 'y');
    changes.set('a', 'X');
    await clock.advance(INTERVAL_MS);

    expect(shown).toEqual(['a=x']);
    expect(changes.get('a')).toBe('X');
  });

  test('keep no timer of what is deleted, or after they are disposed of', () => {
    const { clock, changes } = world();
    for (const key of ['a', 'b']) {
      changes.set(key, '1');
      changes.set(key, '2');
    }
    changes.delete('a');

    expect(changes.get('a')).toBeUndefined();
    expect(clock.pendingTimers).toBe(1);
    changes[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});
