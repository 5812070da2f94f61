import { describe, expect, it } from '@jest/globals';

import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import type { Condition } from '../../../../controller/status/condition.ts';
import type { RouteStatus } from '../../../../controller/kubernetes/stored-resources.ts';
import type { StatusLoop } from '../../../../controller/status/status-loop.ts';
import type { ReleasedRoute } from '../../../../controller/watch/released-route.ts';
import { settingsVerdict } from '../../../support/verdicts.ts';
import {
  DELETION,
  MINUTE,
  SECOND,
  type World,
  lead,
  readRoute,
  reasonOf,
  routeStatusOf,
  settingsStatusOf,
  tell,
  world,
} from './status-loop-world.ts';

describe('a released Route', () => {
  const place = { namespace: 'team-a', name: 'files' };

  /** A Route that every proxy serves, and says so. */
  async function served() {
    const made = await world();
    tell(made.loop);
    await made.clock.advance(MINUTE);
    made.loop.observeRoutes(new Map([['team-a/files', readRoute(made)]]));
    return made;
  }

  /** It is changed like this; what the watch tells of that. */
  function change({ api }: World, metadata: object, why: ReleasedRoute['why']): ReleasedRoute {
    api.edit(ROUTES, place, (object) => ({
      ...object,
      metadata: { ...object.metadata, generation: 2, ...metadata },
    }));
    return read({ api }, why);
  }

  function read({ api }: Pick<World, 'api'>, why: ReleasedRoute['why']): ReleasedRoute {
    const route = readRoute({ api });
    if (route === undefined) throw new Error('gone');
    return { route, why };
  }

  function denying(type: string, reason: string): Condition {
    return {
      ...{ type, status: 'False', reason, observedGeneration: 2 },
      message: expect.any(String) as unknown as string,
      lastTransitionTime: expect.any(String) as unknown as string,
    };
  }

  /** As the watch and the compiler tell of it, one after the other. */
  function release(loop: StatusLoop, released: ReleasedRoute): void {
    loop.releaseRoute('team-a/files', released);
    loop.observeRoutes(new Map([['team-a/files', undefined]]));
    loop.reportRoutes(new Map([['team-a/files', undefined]]));
  }

  it.each<[string, object, ReleasedRoute['why'], RouteStatus]>([
    [
      'is being deleted',
      DELETION,
      'deleted',
      {
        gatewayClassName: 'gatehouse',
        observedGeneration: 2,
        conditions: [denying('Accepted', 'Deleting'), denying('Programmed', 'Deleting')],
      },
    ],
    [
      'joins another gateway class',
      {},
      'other-class',
      { observedGeneration: 2, conditions: [denying('Programmed', 'OtherGatewayClass')] },
    ],
  ])('has one last status when it %s', async (_, metadata, why, status) => {
    const made = await served();
    const { loop, clock, writes, events } = made;
    release(loop, change(made, metadata, why));
    await clock.advance(MINUTE);
    loop.releaseRoute('team-a/files', read(made, why));
    loop.recheck('all');
    await clock.advance(MINUTE);
    expect(writes('files')).toHaveLength(2);
    expect(events()).toEqual([]);
    expect(routeStatusOf(made)).toEqual(status);
  });

  it('gets its last status from the next leader, once', async () => {
    const made = await served();
    const { clock, end, writes } = made;
    end.abort();
    change(made, {}, 'other-class');
    for (let leaders = 0; leaders < 2; leaders += 1) {
      const next = made.open();
      next.releaseRoute('team-a/files', read(made, 'other-class'));
      const nextEnd = lead(made, next);
      await clock.advance(MINUTE);
      nextEnd.abort();
      expect(writes('files')).toHaveLength(2);
    }
    expect(reasonOf(routeStatusOf(made))).toBe('OtherGatewayClass');
  });

  it('keeps the status that the other gateway wrote', async () => {
    const made = await served();
    const { api, loop, clock, writes } = made;
    const before = change(made, {}, 'other-class');
    const { conditions = [] } = routeStatusOf(made);
    const theirs = { gatewayClassName: 'other', observedGeneration: 2, conditions };
    await api.applyStatus(ROUTES, place, theirs);
    release(loop, before);
    // What they said comes before we said anything.
    loop.releaseRoute('team-a/files', read(made, 'other-class'));
    await clock.advance(MINUTE);
    expect(routeStatusOf(made)).toEqual(theirs);
    expect(writes('files')).toHaveLength(2);
  });

  it('gets its last status also after a write that was in progress', async () => {
    const made = await world();
    const { api, loop, clock } = made;
    const apply = api.applyStatus.bind(api);
    const late = Promise.withResolvers<undefined>();
    api.applyStatus = async (...write) => {
      api.applyStatus = apply;
      await late.promise;
      return await apply(...write);
    };
    tell(loop);
    await clock.advance(SECOND);
    release(loop, change(made, DELETION, 'deleted'));
    await clock.advance(SECOND);
    expect(routeStatusOf(made)).toEqual({});
    late.resolve(undefined);
    await clock.advance(MINUTE);
    expect(reasonOf(routeStatusOf(made))).toBe('Deleting');
  });

  it('gets no last status if this gateway wrote none before', async () => {
    const made = await world();
    const { loop, clock, writes } = made;
    release(loop, change(made, DELETION, 'deleted'));
    await clock.advance(MINUTE);
    expect(writes('files')).toEqual([]);
  });

  it('gets its usual status when it returns', async () => {
    const made = await served();
    const { api, loop, clock } = made;
    release(loop, change(made, {}, 'other-class'));
    await clock.advance(MINUTE);
    change(made, { generation: 3 }, 'other-class');
    loop.releaseRoute('team-a/files', undefined);
    loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    tell(loop, { generation: 3 });
    await clock.advance(MINUTE);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
    expect(routeStatusOf(made).observedGeneration).toBe(3);
  });
});

describe('an obstacle to publication', () => {
  it('is reported on what it holds back, and on no Route that is served', async () => {
    const made = await world();
    const { api, loop, clock, writes } = made;
    await api.create(ROUTES, 'team-a', { metadata: { name: 'new' } });
    tell(loop);
    loop.reportSettings(settingsVerdict());
    await clock.advance(MINUTE);
    loop.setObstacle('most routes are gone');
    tell(loop, { name: 'new' });
    await clock.advance(2000);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
    expect(reasonOf(settingsStatusOf(made))).toBe('HeldBack');
    expect(JSON.stringify(writes('new'))).toContain('most routes are gone');
    loop.setObstacle(undefined);
    await clock.advance(2000);
    expect(reasonOf(settingsStatusOf(made))).toBe('Programmed');
  });
});
