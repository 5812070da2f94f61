import { describe, expect, test } from '@jest/globals';

import { UpstreamAuthBook } from '../../../../controller/push/upstream-auth-book.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

const A = 'route/default/a';
const INTERVAL_MS = 60_000;
const FAILURE = { reason: 'upstream-auth-not-found', message: 'no metadata' };
const STATUS = { t: 'status', ready: true, draining: false, conns: 0 } as const;

function world(): {
  readonly clock: ManualClock;
  readonly book: UpstreamAuthBook;
  readonly changed: string[];
} {
  const clock = new ManualClock();
  const changed: string[] = [];
  const book = new UpstreamAuthBook({
    clock,
    intervalMs: INTERVAL_MS,
    wallTime: () => clock.wallTime().getTime(),
    changes: { add: (keys) => changed.push(...Array.from(keys)) },
  });
  return { clock, book, changed };
}

describe('what proxies find out about upstreams', () => {
  test('is the newest report of a route, whichever proxy sends it and in whatever order', async () => {
    const { clock, book, changed } = world();
    book.receive([{ route: 'default/a', ageMs: 1000 }]);
    book.receive([{ route: 'default/a', ageMs: 5000, failure: FAILURE }]);

    expect(book.stateOf(A)).toEqual({ at: clock.wallTime().getTime() - 1000 });
    expect(changed).toEqual([A]);

    await clock.advance(INTERVAL_MS);
    expect(changed).toEqual([A]);
    book.receive([{ route: 'default/a', ageMs: 10, failure: FAILURE }]);

    expect(book.stateOf(A)).toMatchObject({ failure: FAILURE });
    expect(changed).toEqual([A, A]);
  });

  test('changes at most once a minute for one route', async () => {
    const { clock, book, changed } = world();
    book.receive([{ route: 'default/a', ageMs: 0 }]);
    await clock.advance(1);
    book.receive([{ route: 'default/a', ageMs: 0, failure: FAILURE }]);
    await clock.advance(1);
    book.receive([{ route: 'default/b', ageMs: 0, failure: FAILURE }]);

    expect(changed).toEqual([A, 'route/default/b']);
    await clock.advance(INTERVAL_MS);
    expect(changed).toEqual([A, 'route/default/b', A]);
    expect(book.stateOf(A)).toMatchObject({ failure: FAILURE });
  });

  test('is forgotten with the route', () => {
    const { book } = world();
    book.receive([{ route: 'default/a', ageMs: 1000 }]);
    book.forget([A]);

    expect(book.stateOf(A)).toBeUndefined();
    book.receive([{ route: 'default/a', ageMs: 2000, failure: FAILURE }]);
    expect(book.stateOf(A)).toMatchObject({ failure: FAILURE });
  });

  test('reaches the publication in the status of a proxy, also before the first snapshot', async () => {
    await using pushed = await startPushWorld();
    const publication = pushed.lead(aLeadership(1));
    const proxy = await pushed.connect({ id: 'proxy-0' });
    proxy.send({ ...STATUS, upstreamAuth: [{ route: 'default/a', ageMs: 1, failure: FAILURE }] });
    await eventually('the report', () => publication.upstreamAuth(A) !== undefined);

    expect(publication.upstreamAuth(A)).toMatchObject({ failure: FAILURE });
    expect(pushed.changes).toContainEqual(new Set([A]));

    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    expect(publication.upstreamAuth(A)).toMatchObject({ failure: FAILURE });
    publication.publish({ put: [], deleted: [A] });
    expect(publication.upstreamAuth(A)).toBeUndefined();
  });
});
