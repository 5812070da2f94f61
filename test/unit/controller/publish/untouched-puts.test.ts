import { describe, expect, test } from '@jest/globals';

import { untouchedPuts } from '../../../../controller/publish/untouched-puts.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';

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
});

function service(ports: readonly number[]): SnapshotResource {
  const value = {
    kind: 'service',
    name: 'x/svc',
    ports: ports.map((port) => ({ port, targets: ['10.0.0.1:80'] })),
  } as const;
  return { key: 'service/x/svc', hash: ports.join(), value };
}
