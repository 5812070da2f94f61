import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { Publisher } from '../../../../controller/process/publisher.ts';
import type { Publication } from '../../../../controller/push/publication.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';

const DELAY_MS = 30_000;

describe('Publisher', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('publishes nothing while it does not lead, and everything when it begins to', () => {
    const { publisher } = startPublisher();
    publisher.take(compiled({ put: ['a', 'b'] }));
    publisher.take(compiled({ put: ['c'], deleted: ['a'], routeCount: 2 }));
    const publication = new RecordedPublication();

    publisher.lead(publication);

    expect(publication.published).toEqual([{ put: ['b', 'c'], deleted: [] }]);
  });

  test('publishes what changed, and nothing when nothing did', () => {
    const { publisher } = startPublisher();
    const publication = new RecordedPublication();
    publisher.take(compiled({ put: ['a', 'b'] }));
    publisher.lead(publication);

    publisher.take(compiled({ put: ['c'], deleted: ['a'], routeCount: 2 }));
    publisher.take(compiled({ routeCount: 2 }));

    expect(publication.published.slice(1)).toEqual([{ put: ['c'], deleted: ['a'] }]);
  });

  test('begins a leadership with an empty configuration where nothing was served', () => {
    const { publisher } = startPublisher();
    const publication = new RecordedPublication();

    publisher.lead(publication);

    expect(publication.published).toEqual([{ put: [], deleted: [] }]);
  });

  test('holds back while the compiler has an obstacle, and catches up', () => {
    const { publisher, reasons } = startPublisher();
    const publication = new RecordedPublication();
    publisher.lead(publication);

    publisher.take(compiled({ put: ['a'], obstacle: 'the settings are not valid' }));
    expect(publication.published).toHaveLength(1);
    publisher.take(compiled({ put: ['b'], routeCount: 2 }));

    expect(publication.published[1]).toEqual({ put: ['a', 'b'], deleted: [] });
    expect(reasons).toEqual(['the settings are not valid', undefined]);
  });

  test('holds back a sudden emptying, whatever else changes, until the delay is over', () => {
    const { publisher, reasons } = startPublisher();
    const publication = new RecordedPublication();
    publisher.take(compiled({ put: ['a', 'b'] }));
    publisher.lead(publication);

    publisher.take(compiled({ deleted: ['a', 'b'], routeCount: 0 }));
    publisher.take(compiled({ put: ['settings'], routeCount: 0 }));
    jest.advanceTimersByTime(DELAY_MS - 1);
    expect(publication.published).toHaveLength(1);
    expect(reasons).toEqual([
      '0 of 2 routes are left: held back, for the case that it is a mistake',
    ]);

    jest.advanceTimersByTime(1);
    expect(publication.published[1]).toEqual({ put: ['settings'], deleted: ['a', 'b'] });
    expect(reasons.at(-1)).toBeUndefined();
  });

  test('compares with what the proxies serve when it begins to lead', () => {
    const { publisher } = startPublisher();
    const publication = new RecordedPublication(500);
    publisher.take(compiled({ put: ['settings'], routeCount: 3 }));

    publisher.lead(publication);
    expect(publication.published).toHaveLength(0);
    jest.advanceTimersByTime(DELAY_MS);

    expect(publication.published).toHaveLength(1);
  });

  test('publishes nothing more once the leadership is over', () => {
    const { publisher } = startPublisher();
    const publication = new RecordedPublication();
    publisher.take(compiled({ put: ['a'] }));
    publisher.lead(publication);
    publisher.take(compiled({ deleted: ['a'], routeCount: 0 }));

    publisher.follow();
    jest.advanceTimersByTime(2 * DELAY_MS);
    publisher.take(compiled({ put: ['b'] }));

    expect(publication.published).toHaveLength(1);
  });
});

function startPublisher(): {
  readonly publisher: Publisher;
  readonly reasons: (string | undefined)[];
} {
  const reasons: (string | undefined)[] = [];
  const publisher = new Publisher({
    deletionDelayMs: DELAY_MS,
    now: () => Date.now(),
    onHeldBack: (reason) => reasons.push(reason),
  });
  return { publisher, reasons };
}

function compiled(change: {
  readonly put?: readonly string[];
  readonly deleted?: readonly string[];
  readonly routeCount?: number;
  readonly obstacle?: string;
}): Parameters<Publisher['take']>[0] {
  const { put = [], deleted = [], routeCount = put.length, obstacle } = change;
  return { put: put.map(resource), deleted, routeCount, obstacle };
}

function resource(key: string): SnapshotResource {
  return { key, hash: key, value: { kind: 'service', name: key, ports: [] } };
}

class RecordedPublication implements Publication {
  readonly position = { epoch: 1, sequence: 1 };
  readonly version = '';
  readonly publishedAt = undefined;
  readonly proxies = [];
  readonly routesBefore: number;
  readonly published: { readonly put: readonly string[]; readonly deleted: readonly string[] }[] =
    [];

  constructor(routesBefore = 0) {
    this.routesBefore = routesBefore;
  }

  publish({ put, deleted }: Parameters<Publication['publish']>[0]): void {
    this.published.push({ put: put.map(({ key }) => key), deleted });
  }

  programming(): undefined {
    return undefined;
  }
}
