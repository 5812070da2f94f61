import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';

import { PUSH_CLIENT_TIMING } from '../../../../proxy/push/connection/push-timing.ts';
import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { deltaFrames, fullFrames } from '../../../support/push/frames.ts';
import { startScriptedController } from '../../../support/push/scripted-controller.ts';
import { aFullRoute, manyResources, resourcesOf } from '../../../support/push/some-resources.ts';
import { startTcpRelay } from '../../../support/tcp-relay.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';
import {
  connectedProxies,
  RESOURCES,
  SNAPSHOT,
  FIRST,
  SECOND,
  sendFirst,
} from '../../../support/push/connected-proxy.ts';

const { keep, connectProxy, startConnected } = connectedProxies();

describe('a proxy with a controller', () => {
  test('sends its id, and no snapshot, in the first hello', async () => {
    const controller = keep(await startScriptedController());
    connectProxy(controller, controller.port);
    const { headers } = await controller.nextStream();

    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': '/v1/stream',
      authorization: 'Bearer the-first-token',
      'x-proto': '4',
      'x-proxy-id': 'proxy-1',
    });
    expect(headers).not.toHaveProperty('x-have');
    expect(headers).not.toHaveProperty('x-routes');
    expect(controller.serverNames).toEqual(['localhost']);
  });

  test('serves a whole snapshot, and acknowledges it', async () => {
    const { applied, client, stream } = await startConnected();
    stream.send(fullFrames(FIRST, RESOURCES));

    expect(await stream.nextAnswer()).toEqual({
      t: 'ack',
      epoch: 3,
      seq: 1,
      version: SNAPSHOT.version,
      appliedMs: expect.any(Number),
    });
    expect(applied).toEqual([{ position: FIRST, snapshot: SNAPSHOT }]);
    expect(client.serving?.position).toEqual(FIRST);
  });

  test('accepts frames that are split anywhere, also within a character', async () => {
    const { applied, stream } = await startConnected();
    const resources = resourcesOf(
      aFullRoute('team/app', { path: { kind: 'regex', value: '/ä€😀+' } }),
    );
    const text = Buffer.from(
      fullFrames(FIRST, resources)
        .map((frame) => `${JSON.stringify(frame)}\n`)
        .join(''),
    );
    for (const byte of text) stream.sendBytes(Buffer.of(byte));

    await stream.next('ack');
    expect(applied[0]?.snapshot.resources.get('route/team/app')).toEqual(resources[0]);
  });

  test('applies changes to the snapshot that it serves', async () => {
    const { applied, stream } = await startConnected();
    await sendFirst(stream);
    const next = snapshotOf(resourcesOf(compiledSettings(), aFullRoute(), aFullRoute('team/new')));
    stream.send(deltaFrames(SECOND, SNAPSHOT, next));

    expect(await stream.next('ack')).toMatchObject({ seq: 2, version: next.version });
    expect(applied.at(-1)?.snapshot).toEqual(next);
  });

  test('names the snapshot that it serves when it reconnects', async () => {
    const { controller, client, stream: first } = await startConnected();
    await sendFirst(first);
    first.send([{ t: 'goaway', reason: 'the token is old' }]);
    const { headers } = await controller.nextStream();

    expect(headers['x-have']).toBe(`3.1:${SNAPSHOT.version}`);
    expect(headers['x-routes']).toBe('1');
    expect(client.serving?.position).toEqual(FIRST);
  });

  test('names the snapshot that it served when it started', async () => {
    const controller = keep(await startScriptedController());
    const serving = { position: SECOND, snapshot: SNAPSHOT };
    const { applied } = connectProxy(controller, controller.port, { serving });
    const stream = await controller.nextStream();
    expect(stream.headers['x-have']).toBe(`3.2:${SNAPSHOT.version}`);
    stream.accept();
    stream.send(fullFrames(FIRST, RESOURCES));

    expect(await stream.next('nack')).toMatchObject({
      rejected: [{ key: '', reason: 'StalePosition', message: '3.2' }],
      version: SNAPSHOT.version,
    });
    expect(applied).toEqual([]);
  });

  test('reads the token and the authorities for each connection', async () => {
    const { controller, stream: first } = await startConnected();
    await writeFile(controller.tokenFile, 'the-second-token');
    first.send([{ t: 'goaway', reason: 'the token is old' }]);
    const second = await controller.nextStream();
    expect(second.headers.authorization).toBe('Bearer the-second-token');
    second.accept();
    const authorities = await readFile(controller.ca);
    await writeFile(controller.ca, createThrowawayAuthority().ca);
    second.send([{ t: 'goaway', reason: 'certificates were replaced' }]);
    await eventually('it no longer connects', () => second.isClosed);
    await writeFile(controller.ca, authorities);

    await controller.nextStream();
  });

  test('reconnects after the connection broke', async () => {
    const controller = keep(await startScriptedController());
    const relay = keep(await startTcpRelay(controller.port));
    const { applied, client } = connectProxy(controller, relay.port);
    const first = await controller.nextStream();
    first.accept();
    await sendFirst(first);
    relay.cut();
    await eventually('the proxy notices', () => !client.isConnected);
    relay.mend();
    const second = await controller.nextStream();
    second.accept();
    second.send(deltaFrames(SECOND, SNAPSHOT, snapshotOf(RESOURCES.slice(1))));

    await second.next('ack');
    expect(applied.map(({ position }) => position)).toEqual([FIRST, SECOND]);
  });

  test('discards a snapshot whose end did not arrive', async () => {
    const { controller, applied, stream: first } = await startConnected();
    first.send(fullFrames(FIRST, RESOURCES).slice(0, 2));
    first.end();
    const second = await controller.nextStream();
    second.accept();
    second.send(fullFrames(SECOND, RESOURCES));

    await second.next('ack');
    expect(applied.map(({ position }) => position)).toEqual([SECOND]);
  });

  test('answers a ping', async () => {
    const { stream } = await startConnected();
    stream.send([{ t: 'ping' }]);

    expect(await stream.next('pong')).toEqual({ t: 'pong' });
  });

  test('reports its status at once, on changes, and regularly', async () => {
    const clock = new ManualClock();
    const proxy = await startConnected({ clock });
    const { stream } = proxy;
    expect(await stream.next('status')).toEqual({
      t: 'status',
      ready: false,
      draining: false,
      conns: 0,
    });
    proxy.status = { ready: true, draining: false, conns: 7 };
    await clock.advance(PUSH_CLIENT_TIMING.statusMs);
    await eventually('it says so', () =>
      stream.frames.some((frame) => frame.t === 'status' && frame.ready && frame.conns === 7),
    );
  });

  test('reports a change of readiness without waiting', async () => {
    const proxy = await startConnected({ clock: new ManualClock() });
    const { stream } = proxy;
    await stream.next('status');
    proxy.client.reportStatusChange();
    proxy.status = { ready: true, draining: true, conns: 1 };
    proxy.client.reportStatusChange();

    expect(await stream.next('status')).toMatchObject({ ready: true, draining: true });
  });

  test('accepts ten thousand routes', async () => {
    const resources = manyResources(10_000);
    // By this clock the controller, which sends no pings, is not silent however long a busy machine takes.
    const { applied, stream } = await startConnected({ clock: new ManualClock() });
    stream.send(fullFrames(FIRST, resources));

    await stream.next('ack');
    expect(applied[0]?.snapshot.resources.size).toBe(resources.length);
  });
});

test('a URL without TLS is refused', () => {
  expect(() =>
    connectProxy({ ca: 'none', tokenFile: 'none' }, 1, { url: 'http://localhost:1' }),
  ).toThrow(TypeError);
});
