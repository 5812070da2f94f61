import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

describe('a proxy that answers no pings', () => {
  it('is disconnected', async () => {
    await using world = await startPushWorld({ timing: { pingMs: 50, leaveMs: 50 } });
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
    await eventually('its end', () => publication.proxies.length === 0);
    expect(world.logger.messages('warn')).toContain('proxy timed out');
    expect(publication.rolloutState('route/default/a')).toEqual({ kind: 'no-proxies' });
  });
});
