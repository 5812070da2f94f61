import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { PUSH_TIMING } from '../../../../controller/push/push-timing.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

describe('a proxy that answers no pings', () => {
  it('is disconnected', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({ clock });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const sockets: Socket[] = [];
    await using cleanup = new AsyncDisposableStack();
    const relay = createServer((near) => {
      const far = connect(world.port, '127.0.0.1');
      sockets.push(near, far);
      near.on('error', () => undefined).pipe(far);
      far.on('error', () => undefined).pipe(near);
    });
    cleanup.defer(() => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    // The address of a TCP server has this type.
    const { port } = relay.address() as AddressInfo;
    const proxy = await world.connect({ id: 'proxy-0', port });
    await eventually('a snapshot', () => proxy.serving !== undefined);
    // The connection stays open, but passes nothing on.
    for (const socket of sockets) socket.unpipe().pause();
    await clock.advance(PUSH_TIMING.silentPings * PUSH_TIMING.pingMs);
    expect(world.logger.messages('warn')).toEqual([]);
    await clock.advance(PUSH_TIMING.pingMs);
    expect(world.logger.messages('warn')).toEqual(['proxy timed out']);
    await eventually('its end', () => publication.proxies.every(({ isConnected }) => !isConnected));
    await clock.advance(PUSH_TIMING.leaveMs);
    expect(publication.proxies).toEqual([]);
    expect(publication.rolloutState('route/default/a')).toEqual({ kind: 'no-proxies' });
  });
});
