import { describe, expect, it } from '@jest/globals';

import { AssessmentQueue } from '../../../../controller/status/assessment-queue.ts';
import { settle } from '../../../support/manual-clock.ts';

describe('an assessment queue', () => {
  it('assesses each key once, and in a later turn of the event loop', async () => {
    const assessed: string[] = [];
    const queue = new AssessmentQueue((key) => assessed.push(key));
    for (const key of ['a', 'b', 'a']) queue.add(key);
    expect(assessed).toEqual([]);
    await settle();
    expect(assessed).toEqual(['a', 'b']);
  });

  it('spreads many keys over several turns', async () => {
    const turns = new Set<number>();
    let turn = 0;
    const queue = new AssessmentQueue(() => turns.add(turn));
    for (let count = 0; count < 500; count += 1) queue.add(String(count));
    for (; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(turns.size).toBe(3);
  });
});
