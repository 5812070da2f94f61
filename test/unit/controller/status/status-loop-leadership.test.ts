import { describe, expect, it } from '@jest/globals';

import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import { settingsVerdict } from '../../../support/verdicts.ts';
import {
  BAD,
  MINUTE,
  REJECTED,
  lead,
  makeWorld,
  readRoute,
  tell,
  world,
} from './status-loop-world.ts';

describe('a leadership', () => {
  it('starts from the statuses that exist', async () => {
    const made = await world();
    const { api, loop, clock, end, writes } = made;
    tell(loop);
    await clock.advance(MINUTE);
    end.abort();
    const count = writes().length;

    const next = made.open();
    tell(next);
    next.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    made.publication.everything = { kind: 'no-proxies' };
    lead(made, next);
    await clock.advance(MINUTE);
    expect(writes()).toHaveLength(count);
  });

  it('writes nothing before it begins and after it ends', async () => {
    const made = makeWorld();
    await made.api.create(ROUTES, 'team-a', { metadata: { name: 'files' } });
    const loop = made.open();
    tell(loop);
    await made.clock.advance(MINUTE);
    expect(made.writes()).toEqual([]);
    const end = lead(made, loop);
    await made.clock.advance(MINUTE);
    expect(made.writes()).toHaveLength(1);
    end.abort();
    tell(loop, { generation: 2 });
    await made.clock.advance(MINUTE);
    expect(made.writes()).toHaveLength(1);
    lead(made, loop);
    await made.clock.advance(MINUTE);
    expect(made.writes()).toHaveLength(2);
  });
});

describe('Events', () => {
  it('about a flapping Route end with the one that is true', async () => {
    const { loop, clock, events } = await world();
    tell(loop);
    await clock.advance(5000);
    for (let generation = 2; generation < 10; generation += 2) {
      tell(loop, { generation, problems: [BAD], servedGeneration: 1 });
      await clock.advance(1000);
      tell(loop, { generation: generation + 1 });
      await clock.advance(1000);
    }
    tell(loop, { generation: 10, problems: [BAD], servedGeneration: 9 });
    await clock.advance(2 * MINUTE);

    expect(events().length).toBeLessThan(9);
    expect(events().at(-1)).toMatchObject({ reason: 'InvalidPolicy' });
  });

  it('are recorded only when a verdict is reversed', async () => {
    const { loop, publication, clock, events } = await world();
    tell(loop);
    await clock.advance(5000);
    tell(loop, { generation: 2 });
    await clock.advance(5000);
    expect(events()).toEqual([]);

    tell(loop, { generation: 3, problems: [BAD], servedGeneration: 2 });
    await clock.advance(5000);
    tell(loop, { generation: 4, problems: [BAD], servedGeneration: 2 });
    await clock.advance(5000);
    tell(loop, { generation: 5 });
    await clock.advance(5000);
    publication.everything = REJECTED;
    loop.recheck('all');
    await clock.advance(5000);
    expect(events()).toMatchObject([
      {
        type: 'Warning',
        reason: 'InvalidPolicy',
        message: 'spec.policy: no',
        involvedObject: { kind: 'Route', namespace: 'team-a', name: 'files' },
      },
      { type: 'Normal', reason: 'Accepted' },
      { type: 'Warning', reason: 'RejectedByProxy', message: 'Proxy proxy-0 rejects it: bad host' },
    ]);
  });

  it('about publication that is held back are recorded on the settings only', async () => {
    const { loop, clock, events } = await world();
    tell(loop);
    loop.reportSettings(settingsVerdict());
    await clock.advance(5000);
    loop.setObstacle('most routes are gone');
    await clock.advance(5000);
    loop.setObstacle(undefined);
    await clock.advance(5000);
    expect(events()).toMatchObject([
      { reason: 'PublicationHeldBack', involvedObject: { kind: 'GatewaySettings' } },
      { reason: 'PublicationResumed' },
    ]);
  });
});
