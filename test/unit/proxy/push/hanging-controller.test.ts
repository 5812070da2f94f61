import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { startScriptedController } from '../../../support/push/scripted-controller.ts';
import { startTcpService } from '../../../support/tcp-service.ts';
import { connectedProxies } from '../../../support/push/connected-proxy.ts';

const { keep, connectProxy } = connectedProxies();

describe('a controller that hangs', () => {
  /** The deadline is longer than any test, so that nothing here happens because of it. */
  const timing = { helloMs: 60_000, hedgeMs: 50 };

  /** Starts a TCP server that hands its connections to the test. */
  async function startTcpServer(onConnection: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      onConnection(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    keep({
      async [Symbol.asyncDispose]() {
        const closed = once(server, 'close');
        server.close();
        for (const socket of sockets) socket.destroy();
        await closed;
      },
    });
    // The address of a TCP server is an object.
    return (server.address() as AddressInfo).port;
  }

  /** Starts a server that accepts connections and is silent, like a stopped process. */
  async function startHanging(): Promise<number> {
    return await startTcpServer(() => undefined);
  }

  /** Forwards a connection to a port, and hands the answers to `onAnswer`. */
  function passOn(near: Socket, port: number, onAnswer: (data: Buffer) => void): void {
    const far = connect(port, '127.0.0.1');
    far.on('error', () => undefined).on('data', onAnswer);
    far.once('close', () => near.destroy());
    near.once('close', () => far.destroy()).pipe(far);
  }

  test('is bypassed if the Service has a second controller', async () => {
    const controller = keep(await startScriptedController());
    const hanging = await startHanging();
    const service = keep(await startTcpService(() => [controller.port, hanging]));
    const { client } = connectProxy(controller, service.port, { timing });
    const stream = await controller.nextStream();
    stream.accept();
    await stream.next('status');

    expect(client.isConnected).toBe(true);
    expect(controller.streams).toHaveLength(1);
  });

  test('is bypassed if others name it as the leader', async () => {
    const controller = keep(await startScriptedController());
    const hanging = await startHanging();
    const { client } = connectProxy(controller, controller.port, { timing });
    const named = { 'x-leader': `127.0.0.1:${String(hanging)}` };
    (await controller.nextStream()).refuse(503, named);
    const stream = await controller.nextStream();
    stream.accept();
    await stream.next('status');

    expect(client.isConnected).toBe(true);
  });

  test('is logged as hanging if others still name it as the leader', async () => {
    const address = `127.0.0.1:${String(await startHanging())}`;
    const controller = keep(
      await startScriptedController({
        onStream: (each) => each.refuse(503, { 'x-leader': address }),
      }),
    );
    const { logger } = connectProxy(controller, controller.port, {
      timing: { helloMs: 500, hedgeMs: 50 },
    });
    // On a busy machine the other controller may be too slow as well.
    const ofHanging = () => logger.records.find(({ fields }) => fields['address'] === address);
    await eventually('the hanging controller is logged', () => ofHanging() !== undefined);

    expect(ofHanging()?.fields).toMatchObject({
      problem: 'unreachable',
      error: expect.stringContaining('TimeoutError'),
    });
  });

  test('is waited for if it is only slow, whatever others answer', async () => {
    const leader = keep(await startScriptedController());
    const { authority } = leader;
    const slow = await startTcpServer((near) => {
      passOn(near, leader.port, (data) => {
        setTimeout(() => near.write(data), 4 * timing.hedgeMs);
      });
    });
    const named = { 'x-leader': `127.0.0.1:${String(slow)}` };
    const other = keep(
      await startScriptedController({ authority, onStream: (each) => each.refuse(503, named) }),
    );
    const { logger } = connectProxy(other, other.port, { timing });
    const stream = await leader.nextStream();
    stream.accept();
    await stream.next('status');

    expect(other.streams.length).toBeGreaterThan(1);
    expect(leader.streams).toHaveLength(1);
    expect(logger.messages('warn')).toEqual([]);
  });

  test('gets one hello if it accepts all connections at once later', async () => {
    const controller = keep(await startScriptedController());
    const held = new Map<Socket, Buffer[]>();
    const gate = await startTcpServer((near) => {
      const answers: Buffer[] = [];
      passOn(near, controller.port, (data) => {
        held.set(near, answers);
        answers.push(data);
        if (held.size < 2) return;
        for (const [each, parts] of held) each.write(Buffer.concat(parts.splice(0)));
      });
    });
    const { client } = connectProxy(controller, gate, { timing });
    const stream = await controller.nextStream();
    stream.accept();
    await stream.next('status');

    expect(client.isConnected).toBe(true);
    expect(controller.serverNames.length).toBeGreaterThan(1);
    expect(controller.streams).toHaveLength(1);
  });

  test('gets one hello if it is only slow', async () => {
    const controller = keep(await startScriptedController());
    const clock = new ManualClock();
    connectProxy(controller, controller.port, { timing, clock });
    const stream = await controller.nextStream();
    await clock.advance(4 * timing.hedgeMs);
    stream.accept();
    await stream.next('status');

    expect(controller.serverNames).toHaveLength(1);
  });
});
