import { describe, expect, it } from '@jest/globals';

import { PUSH_TIMING } from '../../../../controller/push/push-timing.ts';
import type { RejectedEntry } from '../../../../shared/snapshot/push-frames.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { pushedRoute, pushedRoutes } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

/** Beyond the time that a test lets pass. */
const NEVER_MS = 1_000_000_000;

const WHOLE: RejectedEntry = { key: '', reason: 'InvalidResource', message: 'cannot' };

describe('a snapshot that a proxy rejects as a whole', () => {
  it('is sent again at growing intervals', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({ clock, timing: { pingMs: NEVER_MS } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0', answer: () => [WHOLE] });
    const errors = (): number => world.logger.messages('error').length;
    for (const [before, waitMs] of [1000, 2000, 4000].entries()) {
      await eventually('a rejection', () => errors() === before + 1);
      await clock.advance(waitMs - 1);
      expect(proxy.received).toHaveLength(before + 1);
      await clock.advance(1);
    }
    await eventually('the fourth attempt', () => errors() === 4);
    expect(publication.position.sequence).toBe(1);
    expect(new Set(world.logger.messages('error'))).toEqual(
      new Set(['proxy rejects the whole snapshot']),
    );
  });

  it('is sent again sooner when its content changes', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({
      clock,
      timing: { pingMs: NEVER_MS, streamLifeMs: NEVER_MS, longestRetryMs: NEVER_MS },
    });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      answer: ({ position }) => (position.sequence > 1 ? 'ack' : [WHOLE]),
    });
    const errors = (): number => world.logger.messages('error').length;
    for (let attempt = 1; attempt < 6; attempt += 1) {
      await eventually('a rejection', () => errors() === attempt);
      await clock.advance(PUSH_TIMING.retryMs * 2 ** (attempt - 1));
    }
    await eventually('six attempts', () => errors() === 6);
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await clock.advance(PUSH_TIMING.retryMs);
    await eventually('an acknowledgement', () => proxy.serving !== undefined);
    expect(proxy.received).toHaveLength(7);
  });

  it.each(['UnknownBase', 'BrokenSnapshot'] as const)(
    'is sent whole at once after %s',
    async (reason) => {
      await using world = await startPushWorld({ timing: { retryMs: 100_000 } });
      const publication = world.lead(aLeadership(1));
      publication.publish({ put: pushedRoutes(3), deleted: [] });
      const proxy = await world.connect({
        id: 'proxy-0',
        answer: ({ base }) => (base === null ? 'ack' : [{ key: '', reason, message: 'what?' }]),
      });
      await eventually('the first', () => proxy.serving !== undefined);
      publication.publish({ put: [pushedRoute('a')], deleted: [] });
      await eventually('the second', () => proxy.serving?.position.sequence === 2);
      expect(proxy.received.map(({ base }) => base === null)).toEqual([true, false, true]);
    },
  );
});
