import { describe, expect, it } from '@jest/globals';

import type { RolloutState } from '../../../../controller/push/publication.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import {
  MINUTE,
  PENDING,
  reasonOf,
  routeStatusOf,
  SECOND,
  tell,
  world,
} from './status-loop-world.ts';

const FAULTY = 'route/team-a/files';

/** A world with a second Route, and with a bug that the test switches on for the first. */
async function worldWithBug() {
  const made = await world();
  await made.api.create(ROUTES, 'team-a', { metadata: { name: 'others' } });
  const bug = { isOn: false };
  const rolloutState = made.publication.rolloutState.bind(made.publication);
  made.publication.rolloutState = (key): RolloutState | undefined => {
    if (bug.isOn && key === FAULTY) throw new Error('bug');
    return rolloutState(key);
  };
  const faults = () => made.logger.records.filter(({ level }) => level === 'error');
  return { ...made, bug, faults };
}

describe('a bug that shows at one Route', () => {
  it('leaves its status as it was, and other statuses are written', async () => {
    const made = await worldWithBug();
    const { loop, clock, bug, faults, writes } = made;
    tell(loop);
    await clock.advance(MINUTE);
    bug.isOn = true;
    tell(loop, { generation: 2 });
    tell(loop, { name: 'others' });
    await clock.advance(MINUTE);
    expect(writes('others')).toHaveLength(1);
    expect(routeStatusOf(made).observedGeneration).toBe(1);
    expect(faults()).toMatchObject([
      { message: 'cannot assess a resource', fields: { resource: FAULTY } },
    ]);
  });

  it('is logged once until the Route can be assessed again, and then its status is written', async () => {
    const made = await worldWithBug();
    const { loop, clock, bug, faults } = made;
    bug.isOn = true;
    tell(loop);
    await clock.advance(MINUTE);
    loop.recheck('all');
    await clock.advance(MINUTE);
    expect(faults()).toHaveLength(1);
    bug.isOn = false;
    loop.recheck('all');
    await clock.advance(MINUTE);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
    bug.isOn = true;
    loop.recheck('all');
    await clock.advance(MINUTE);
    expect(faults()).toHaveLength(2);
  });

  it('does not end the process when the write is due', async () => {
    const { loop, clock, bug, faults, publication, writes } = await worldWithBug();
    publication.everything = PENDING;
    tell(loop);
    await clock.advance(SECOND / 2);
    bug.isOn = true;
    tell(loop, { name: 'others' });
    await clock.advance(MINUTE);
    expect(faults()).toHaveLength(1);
    expect(writes('files')).toHaveLength(0);
    expect(writes('others')).toHaveLength(1);
  });
});
