import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';

import { PUSH_CLIENT_TIMING } from '../../../../proxy/push/connection/push-timing.ts';
import { LONGEST_CONTROLLER_LINE_BYTES } from '../../../../shared/snapshot/push-frames.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { letTimePass } from '../../../support/let-time-pass.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { fullFrames } from '../../../support/push/frames.ts';
import { startScriptedController } from '../../../support/push/scripted-controller.ts';
import { startTcpRelay } from '../../../support/tcp-relay.ts';
import {
  connectedProxies,
  RESOURCES,
  SNAPSHOT,
  FIRST,
  SECOND,
  sendFirst,
} from '../../../support/push/connected-proxy.ts';

const { pingMs, silenceMs, helloMs, displacedMs } = PUSH_CLIENT_TIMING;
/** The first wait between two attempts is random, and not longer than this. */
const LONGEST_FIRST_RETRY_MS = 500;

const { keep, connectProxy, startConnected } = connectedProxies();

describe('a stream that breaks', () => {
  test.each([
    ['garbage', 'garbage\n'],
    ['a frame that there is not', '{"t":"reset"}\n'],
    ['a member that there is not', '{"t":"ping","force":true}\n'],
    ['a commit of nothing', `{"t":"commit","version":"${'0'.repeat(64)}"}\n`],
    ['a snapshot within a snapshot', beginTwice()],
    ['a line without an end', 'x'.repeat(LONGEST_CONTROLLER_LINE_BYTES + 1)],
  ])('is left because of %s, and the proxy comes again', async (_what, text) => {
    const { controller, client, logger, stream: first } = await startConnected();
    await sendFirst(first);
    first.sendText(text);
    const second = await controller.nextStream();

    expect(second.headers['x-have']).toBe(`3.1:${SNAPSHOT.version}`);
    expect(client.serving?.position).toEqual(FIRST);
    expect(logger.messages('warn')).toEqual(['cannot connect to the controller']);
  });

  test('is noticed if nothing arrives on it', async () => {
    const controller = keep(await startScriptedController());
    const relay = keep(await startTcpRelay(controller.port));
    const clock = new ManualClock();
    const { client, logger } = connectProxy(controller, relay.port, { clock });
    const stream = await controller.nextStream();
    stream.accept();
    await sendFirst(stream);
    relay.freeze();
    await clock.advance(silenceMs - pingMs);
    expect(client.isConnected).toBe(true);
    await clock.advance(2 * pingMs);
    await eventually('the proxy notices', () => !client.isConnected);

    expect(logger.records.at(-1)?.fields).toMatchObject({
      problem: 'unreachable',
      serving: true,
      error: expect.stringContaining('does not answer'),
    });
    expect(client.serving?.position).toEqual(FIRST);
  });

  test('is kept while the controller answers pings and sends nothing else', async () => {
    const clock = new ManualClock();
    const { controller, client, stream } = await startConnected({ clock });
    await stream.next('status');
    for (let passedMs = 0; passedMs < 3 * silenceMs; passedMs += pingMs) {
      await clock.advance(pingMs);
      await stream.answerPings();
    }

    expect(client.isConnected).toBe(true);
    expect(controller.streams).toHaveLength(1);
  });

  test('is given up if the hello is never answered', async () => {
    const controller = keep(await startScriptedController());
    const clock = new ManualClock();
    const { logger } = connectProxy(controller, controller.port, { clock });
    await controller.nextStream();
    await clock.advance(helloMs);
    await eventually('it says so', () => logger.messages('warn').length > 0);
    await clock.advance(LONGEST_FIRST_RETRY_MS);
    await controller.nextStream();

    expect(logger.records.map(({ fields }) => fields['error'])).toEqual([
      expect.stringContaining('TimeoutError'),
    ]);
  });
});

describe('a controller that is unreachable', () => {
  test('is logged once, and once more when it is back', async () => {
    const controller = keep(await startScriptedController());
    const relay = keep(await startTcpRelay(controller.port));
    relay.cut();
    const { logger } = connectProxy(controller, relay.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);
    relay.mend();
    (await controller.nextStream()).accept();
    await eventually('it says so', () => logger.messages('info').length > 0);

    expect(logger.records.map(({ message }) => message)).toEqual([
      'cannot connect to the controller',
      'connected to the controller',
    ]);
  });

  test('is logged with its problem', async () => {
    const controller = keep(await startScriptedController());
    const { logger } = connectProxy(controller, await freePort());
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields['error']).toContain('ECONNREFUSED');
  });

  test('does not keep a proxy from closing', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const controller = keep(await startScriptedController());
    const { client } = connectProxy(controller, port);
    await once(server, 'connection');
    await client.close();
    server.close();

    expect(client.isConnected).toBe(false);
  });

  test('is not confused with a duplicate proxy id', async () => {
    const clock = new ManualClock();
    const { controller, logger, stream: first } = await startConnected({ clock });
    first.send([{ t: 'goaway', reason: 'replaced' }]);
    await eventually('it says so', () => logger.messages('warn').length > 0);
    expect(logger.records.at(-1)).toMatchObject({
      message: 'another proxy has the same id',
      fields: { problem: 'same-id', proxyId: 'proxy-1' },
    });
    await clock.advance(displacedMs - 1);
    expect(controller.streams).toHaveLength(1);
    await letTimePass(clock, 'the proxy returns', () => controller.streams.length > 1);
  });
});

function beginTwice(): string {
  const [begin] = fullFrames(SECOND, RESOURCES);
  return `${JSON.stringify(begin)}\n`.repeat(2);
}
