import { describe, expect, test } from '@jest/globals';

import { untouchedPuts } from '../../../../controller/publish/untouched-puts.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import {
  aCompiledCertificate,
  aCompiledRoute,
  aHeldHost,
  aResource,
} from '../../../support/compiled-resources.ts';

describe('untouchedPuts', () => {
  test.each([
    { before: [80, 8080], after: [80, 8080, 9090], isPublished: true },
    { before: [80], after: [80], isPublished: true },
    { before: [80, 8080], after: [80], isPublished: false },
  ])(
    'publishes a Service whose ports change from $before to $after: $isPublished',
    ({ before, after, isPublished }) => {
      const published = new Map([['service/x/svc', service(before)]]);

      const put = untouchedPuts({ put: [service(after)], deleted: ['route/x/gone'] }, (key) =>
        published.get(key),
      );

      expect(put).toHaveLength(isPublished ? 1 : 0);
    },
  );

  test('publishes a new certificate, and routes that do not wait for it', () => {
    const [certificate, route] = [aResource(aCompiledCertificate()), routeAt('a/x', 'x.test')];
    const put = untouchedPuts(
      { put: [certificate, route], deleted: ['route/a/gone'] },
      () => undefined,
    );
    expect(put).toEqual([certificate, route]);
  });

  describe('keeps back together with a held host', () => {
    const held = aResource(aHeldHost('app.example.com'));
    const other = routeAt('b/other', 'other.example.com');
    const from = (host: string): SnapshotResource => routeAt('a/x', host);

    // Attack: a wildcard would serve the host until the deletions are published too.
    test.each([
      { what: 'a new route of a wildcard', put: from('*.example.com') },
      {
        what: 'a route that leaves the host',
        before: from('app.example.com'),
        put: from('b.test'),
      },
      { what: 'a route that leaves a wildcard', before: from('*.x.test'), put: from('b.test') },
    ])('$what, and no other route', ({ before, put }) => {
      const published = new Map(before && [[before.key, before]]);
      const keysOf = (...all: readonly SnapshotResource[]): readonly string[] =>
        untouchedPuts({ put: all, deleted: ['route/a/gone'] }, (key) => published.get(key)).map(
          ({ key }) => key,
        );

      expect(keysOf(held, put, other)).toEqual(['route/b/other']);
      expect(keysOf(put, other)).toEqual(['route/a/x', 'route/b/other']);
    });

    test('a route that takes the place of one that waits', () => {
      const published = new Map([['route/a/x', from('*.example.com')]]);
      const put = [held, from('b.test'), routeAt('c/x', '*.example.com'), other];
      const keys = untouchedPuts({ put, deleted: [] }, (key) => published.get(key));
      expect(keys.map(({ key }) => key)).toEqual(['route/b/other']);
    });
  });
});

function routeAt(name: string, host: string): SnapshotResource {
  return aResource(aCompiledRoute({ name, host }));
}

function service(ports: readonly number[]): SnapshotResource {
  const value = {
    kind: 'service',
    name: 'x/svc',
    ports: ports.map((port) => ({ port, targets: ['10.0.0.1:80'] })),
  } as const;
  return { key: 'service/x/svc', hash: ports.join(), value };
}
