import { describe, expect, test } from '@jest/globals';

import type { ChangeSet } from '../../../../controller/compile/change-set.ts';
import { PublicationAudit } from '../../../../controller/publish/publication-audit.ts';
import { aCompiledService } from '../../../support/compiled-resources.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';
import { resourcesOf } from '../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';

const TRACE = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), isSampled: true };
const WHOLE = { put: [pushedSettings(), pushedRoute('a'), pushedRoute('b')], deleted: [] };

/** Publishes changes, and returns their records and the versions. */
async function publish(...all: readonly ChangeSet[]) {
  await using world = await startPushWorld();
  const publication = world.lead(aLeadership(7));
  for (const changes of all) publication.publish(changes);
  const logger = createRecordingLogger();
  const generationOf = (key: string): number => (key === 'settings' ? 9 : 4);
  const audit = new PublicationAudit({ logger, identity: 'pod_1', generationOf });
  for (const revision of world.published) audit.published(revision, TRACE);
  return { records: logger.records, versions: world.published.map(({ version }) => version) };
}

describe('the audit log of a controller', () => {
  test('says who published which generation of what, and at which position', async () => {
    const put = [pushedSettings('other'), pushedRoute('a', 2), pushedRoute('c')];
    const { records, versions } = await publish(WHOLE, { put, deleted: ['route/default/b'] });
    const common = { publisher: 'pod_1', 'trace-id': TRACE.traceId };

    expect(records).toEqual([
      {
        level: 'info',
        message: 'configuration taken over',
        fields: {
          ...{ ...common, event: 'configuration-taken-over', position: '7.1', resources: 3 },
          version: versions[0],
        },
      },
      {
        level: 'info',
        message: 'configuration published',
        fields: {
          ...{ ...common, event: 'configuration-published', position: '7.2', resources: 4 },
          version: versions[1],
          changes: [
            { key: 'route/default/b', change: 'removed' },
            { key: 'settings', change: 'changed', generation: 9 },
            { key: 'route/default/a', change: 'changed', generation: 4 },
            { key: 'route/default/c', change: 'added', generation: 4 },
          ],
        },
      },
    ]);
  });

  test('names fifty resources of a change, and counts them all', async () => {
    const { records } = await publish(WHOLE, { put: pushedRoutes(1000), deleted: [] });
    const fields = records[1]?.fields;

    expect(fields?.['resources']).toBe(1000);
    expect(fields?.['changes']).toHaveLength(50);
  });

  test('says nothing of targets of Services', async () => {
    const service = resourcesOf(aCompiledService());
    const { records } = await publish(WHOLE, { put: service, deleted: [] });

    expect(records).toHaveLength(1);
  });
});
