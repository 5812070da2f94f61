import { describe, expect, test } from '@jest/globals';

import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { aCompiledService } from '../../../support/compiled-resources.ts';
import { deltaFrames, fullFrames } from '../../../support/push/frames.ts';
import { aFullRoute, resourcesOf } from '../../../support/push/some-resources.ts';
import {
  connectedProxies,
  RESOURCES,
  SNAPSHOT,
  FIRST,
  SECOND,
  sendFirst,
} from '../../../support/push/connected-proxy.ts';

const { startConnected } = connectedProxies();

describe('a snapshot that is not served', () => {
  test('is rejected with everything that is wrong in it, and the one before still serves', async () => {
    const { applied, client, stream } = await startConnected();
    await sendFirst(stream);
    const restricted = { ...aFullRoute('team/a'), onlyOnMondays: true };
    const unknownKind = { ...aFullRoute('team/b'), path: { kind: 'glob', value: '/*' } };
    // Like a controller of a different release, with types of its own.
    const next = snapshotOf(resourcesOf(restricted, unknownKind as never, ...[aCompiledService()]));
    stream.send(deltaFrames(SECOND, SNAPSHOT, next));
    const nack = await stream.next('nack');

    expect(nack.rejected).toEqual([
      {
        key: 'route/team/a',
        reason: 'InvalidResource',
        message: 'has a member that this release does not know: onlyOnMondays',
      },
      { key: 'route/team/b', reason: 'InvalidResource', message: expect.any(String) },
    ]);
    expect(nack.version).toBe(SNAPSHOT.version);
    expect(applied).toHaveLength(1);
    expect(client.serving?.position).toEqual(FIRST);
  });

  test('can be rejected by the gateway for some of its resources', async () => {
    const { client, stream } = await startConnected({
      handlers: {
        apply: () => [{ key: 'route/team/app', message: 'no such regular expression' }],
        status: () => ({ ready: true, draining: false, conns: 0 }),
      },
    });
    stream.send(fullFrames(FIRST, RESOURCES));

    expect(await stream.next('nack')).toEqual({
      t: 'nack',
      epoch: 3,
      seq: 1,
      rejected: [
        { key: 'route/team/app', reason: 'InvalidResource', message: 'no such regular expression' },
      ],
      version: null,
    });
    expect(client.serving).toBeUndefined();
  });

  test('is rejected whole if the gateway fails, without the reason', async () => {
    const { logger, stream } = await startConnected({
      handlers: {
        apply: () => {
          throw new Error('the client secret is hunter2');
        },
        status: () => ({ ready: true, draining: false, conns: 0 }),
      },
    });
    stream.send(fullFrames(FIRST, RESOURCES));
    const nack = await stream.next('nack');

    expect(nack.rejected).toMatchObject([{ key: '', reason: 'InvalidResource' }]);
    expect(JSON.stringify(nack)).not.toContain('hunter2');
    expect(logger.messages('error')).toEqual(['cannot apply a snapshot']);
  });

  test('does not end the connection', async () => {
    const { applied, stream } = await startConnected();
    stream.send(deltaFrames(FIRST, SNAPSHOT, snapshotOf([])));
    expect(await stream.next('nack')).toMatchObject({ rejected: [{ reason: 'UnknownBase' }] });
    stream.send(fullFrames(SECOND, RESOURCES));

    await stream.next('ack');
    expect(applied).toHaveLength(1);
  });
});
