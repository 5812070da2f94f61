import { beforeEach, describe, expect, test } from '@jest/globals';

import type { ChangeSet } from '../../../../controller/compile/change-set.ts';
import { Publisher } from '../../../../controller/publish/publisher.ts';
import type { Publication } from '../../../../controller/push/publication.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';

const DELAY_MS = 30_000;

describe('Publisher', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
  });

  test('publishes nothing before it leads, and then the whole table', () => {
    const { publisher } = startPublisher(clock);
    publisher.publish(compiled({ put: ['a', 'b'] }));
    publisher.publish(compiled({ put: ['c'], deleted: ['a'], routeCount: 2 }));
    const publication = new RecordedPublication();

    publisher.beginTerm(publication, undefined);

    expect(publication.published).toEqual([{ put: ['b', 'c'], deleted: [] }]);
  });

  test('publishes only changes while it leads', () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication();
    publisher.publish(compiled({ put: ['a', 'b'] }));
    publisher.beginTerm(publication, undefined);

    publisher.publish(compiled({ put: ['c'], deleted: ['a'], routeCount: 2 }));
    publisher.publish(compiled({ routeCount: 2 }));

    expect(publication.published.slice(1)).toEqual([{ put: ['c'], deleted: ['a'] }]);
  });

  test('begins a leadership with an empty configuration if nothing served before', () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication();

    publisher.beginTerm(publication, undefined);

    expect(publication.published).toEqual([{ put: [], deleted: [] }]);
  });

  test('holds changes back while the compiler has an obstacle, and then publishes them', () => {
    const { publisher, reasons } = startPublisher(clock);
    const publication = new RecordedPublication();
    publisher.beginTerm(publication, undefined);

    publisher.publish(compiled({ put: ['a'], obstacle: 'the settings are not valid' }));
    expect(publication.published).toHaveLength(1);
    publisher.publish(compiled({ put: ['b'], routeCount: 2 }));

    expect(publication.published[1]).toEqual({ put: ['a', 'b'], deleted: [] });
    expect(reasons).toEqual(['the settings are not valid', undefined]);
  });

  test('holds back the loss of all routes for the delay, whatever else changes', async () => {
    const { publisher, reasons } = startPublisher(clock);
    const publication = new RecordedPublication();
    publisher.publish(compiled({ put: ['a', 'b'] }));
    publisher.beginTerm(publication, undefined);

    publisher.publish(compiled({ deleted: ['a', 'b'], routeCount: 0 }));
    publisher.publish(compiled({ put: ['settings'], routeCount: 0 }));
    await clock.advance(DELAY_MS - 1);
    expect(publication.published).toHaveLength(1);
    expect(reasons).toEqual(['0 of 2 routes are left, which may be a mistake']);

    await clock.advance(1);
    expect(publication.published[1]).toEqual({ put: ['settings'], deleted: ['a', 'b'] });
    expect(reasons.at(-1)).toBeUndefined();
  });

  test('has one recheck pending while it holds changes back, and none after it resigned', async () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication();
    publisher.publish(compiled({ put: ['a', 'b'] }));
    publisher.beginTerm(publication, undefined);

    publisher.publish(compiled({ deleted: ['a', 'b'], routeCount: 0 }));
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    publisher.publish(compiled({ put: ['settings'], routeCount: 0 }));
    expect(clock.pendingTimers).toBe(1);

    publisher.resign();
    expect(clock.pendingTimers).toBe(0);
  });

  describe('while most routes are gone', () => {
    const SERVED = ['a', 'b', 'c'].map((name) => route(`x/${name}`, name));

    function startEmptied(): ReturnType<typeof startPublisher> & {
      readonly publication: RecordedPublication;
    } {
      const started = startPublisher(clock);
      const publication = new RecordedPublication();
      started.publisher.publish({ put: SERVED, deleted: [], routeCount: 30, obstacle: undefined });
      started.publisher.beginTerm(publication, undefined);
      const deleted = ['route/x/a', 'route/x/b'];
      started.publisher.publish({ put: [], deleted, routeCount: 1, obstacle: undefined });
      return { ...started, publication };
    }

    test('publishes routes and Services that are not affected', async () => {
      const { publisher, publication, reasons } = startEmptied();

      const put = [route('y/new', 'new'), resource('service/y/new')];
      publisher.publish({ put, deleted: ['service/x/a'], routeCount: 2, obstacle: undefined });
      expect(publication.published.slice(1)).toEqual([
        { put: ['route/y/new', 'service/y/new'], deleted: [] },
      ]);
      expect(reasons.at(-1)).toMatch('routes are left, which may be a mistake');

      await clock.advance(DELAY_MS);
      expect(publication.published.slice(2)).toEqual([
        { put: [], deleted: ['route/x/a', 'route/x/b', 'service/x/a'] },
      ]);
      expect(reasons.at(-1)).toBeUndefined();
    });

    test('holds back a route whose address belongs to a route that still serves', async () => {
      const { publisher, publication } = startEmptied();

      // The first takes the host of a deleted route, and the second the host that the first leaves.
      const put = [route('x/c', 'a'), route('y/new', 'c'), route('z/new', 'z')];
      publisher.publish({ put, deleted: [], routeCount: 3, obstacle: undefined });
      expect(publication.published.slice(1)).toEqual([{ put: ['route/z/new'], deleted: [] }]);

      await clock.advance(DELAY_MS);
      expect(publication.published.slice(2)).toEqual([
        { put: ['route/x/c', 'route/y/new'], deleted: ['route/x/a', 'route/x/b'] },
      ]);
    });

    test('holds back routes that may have been compiled with changed settings', () => {
      const { publisher, publication } = startEmptied();

      const put = [resource('settings'), route('y/new', 'new'), resource('service/y/new')];
      publisher.publish({ put, deleted: [], routeCount: 2, obstacle: undefined });
      expect(publication.published.slice(1)).toEqual([{ put: ['service/y/new'], deleted: [] }]);
    });

    test('publishes nothing while the compiler has an obstacle', async () => {
      const { publisher, publication } = startEmptied();

      const put = [route('y/new', 'new')];
      publisher.publish({ put, deleted: [], routeCount: 2, obstacle: 'no settings' });
      await clock.advance(DELAY_MS);
      expect(publication.published).toHaveLength(1);
    });

    test('publishes routes that came back as changes', async () => {
      const { publisher, publication } = startEmptied();

      const put = [route('x/a', 'a'), route('x/b', 'elsewhere')];
      publisher.publish({ put, deleted: [], routeCount: 30, obstacle: undefined });
      await clock.advance(DELAY_MS);
      expect(publication.published.slice(1)).toEqual([
        { put: ['route/x/a', 'route/x/b'], deleted: [] },
      ]);
    });
  });

  test('compares with the routes that proxies report when it begins to lead', async () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication(500);
    publisher.publish(compiled({ put: ['settings'], routeCount: 3 }));

    publisher.beginTerm(publication, undefined);
    expect(publication.published).toHaveLength(0);
    await clock.advance(DELAY_MS);

    expect(publication.published).toHaveLength(1);
  });

  test('compares with the routes that the leader before reported if no proxy has connected', async () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication();
    publisher.publish(compiled({ put: ['settings'], routeCount: 3 }));

    publisher.beginTerm(publication, 500);
    expect(publication.published).toHaveLength(0);
    await clock.advance(DELAY_MS);

    expect(publication.published).toHaveLength(1);
  });

  test('trusts the number of the leader before over the number of a proxy', () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication(999_999_999);
    publisher.publish(compiled({ put: ['a', 'b'] }));

    publisher.beginTerm(publication, 2);

    expect(publication.published).toHaveLength(1);
  });

  test('publishes nothing after it resigned', async () => {
    const { publisher } = startPublisher(clock);
    const publication = new RecordedPublication();
    publisher.publish(compiled({ put: ['a'] }));
    publisher.beginTerm(publication, undefined);
    publisher.publish(compiled({ deleted: ['a'], routeCount: 0 }));

    publisher.resign();
    await clock.advance(2 * DELAY_MS);
    publisher.publish(compiled({ put: ['b'] }));

    expect(publication.published).toHaveLength(1);
  });
});

function startPublisher(clock: Clock): {
  readonly publisher: Publisher;
  readonly reasons: (string | undefined)[];
} {
  const reasons: (string | undefined)[] = [];
  const publisher = new Publisher({
    deletionDelayMs: DELAY_MS,
    clock,
    onHeldBack: (reason) => reasons.push(reason),
  });
  return { publisher, reasons };
}

function compiled(change: {
  readonly put?: readonly string[];
  readonly deleted?: readonly string[];
  readonly routeCount?: number;
  readonly obstacle?: string;
}): Parameters<Publisher['publish']>[0] {
  const { put = [], deleted = [], routeCount = put.length, obstacle } = change;
  return { put: put.map(resource), deleted, routeCount, obstacle };
}

function resource(key: string): SnapshotResource {
  return { key, hash: key, value: { kind: 'service', name: key, ports: [] } };
}

function route(name: string, host: string): SnapshotResource {
  return { ...pushedRoute(host), key: `route/${name}` };
}

class RecordedPublication implements Publication {
  readonly position = { epoch: 1, sequence: 1 };
  readonly version = '';
  readonly publishedAt = undefined;
  readonly proxies = [];
  readonly routesBefore: number;
  readonly published: { readonly put: readonly string[]; readonly deleted: readonly string[] }[] =
    [];
  readonly #resources = new Map<string, SnapshotResource>();

  constructor(routesBefore = 0) {
    this.routesBefore = routesBefore;
  }

  publish({ put, deleted }: ChangeSet): void {
    for (const resource of put) this.#resources.set(resource.key, resource);
    for (const key of deleted) this.#resources.delete(key);
    this.published.push({ put: put.map(({ key }) => key), deleted });
  }

  find(key: string): SnapshotResource | undefined {
    return this.#resources.get(key);
  }

  rolloutState(): undefined {
    return undefined;
  }

  upstreamAuth(): undefined {
    return undefined;
  }
}
