import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';

import { PushClient, type PushClientOptions } from '../../../../proxy/push/push-client.ts';
import type { ProxyStatus } from '../../../../proxy/push/controller-stream.ts';
import type { PlacedSnapshot } from '../../../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { LONGEST_CONTROLLER_LINE_BYTES } from '../../../../shared/snapshot/push-frames.ts';
import { aCompiledService } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { deltaFrames, fullFrames } from '../../../support/push/frames.ts';
import {
  startScriptedController,
  type ProxyStream,
  type ScriptedController,
} from '../../../support/push/scripted-controller.ts';
import {
  aCompiledRoute,
  manyResources,
  resourcesOf,
} from '../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';
import { startTcpRelay } from '../../../support/tcp-relay.ts';
import { startTcpService } from '../../../support/tcp-service.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';

const RESOURCES = resourcesOf(compiledSettings(), aCompiledRoute(), aCompiledService());
const SNAPSHOT = snapshotOf(RESOURCES);
const FIRST = { epoch: 3, sequence: 1 };
const SECOND = { epoch: 3, sequence: 2 };

const NO_CERTIFICATE = '-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n';

const keep = disposeAfterEach();

interface FollowingProxy {
  readonly client: PushClient;
  readonly applied: PlacedSnapshot[];
  readonly logger: ReturnType<typeof createRecordingLogger>;
  status: ProxyStatus;
}

/** A proxy that follows, and keeps what it applies. */
function follow(
  { ca, tokenFile }: Pick<ScriptedController, 'ca' | 'tokenFile'>,
  port: number,
  options: Partial<PushClientOptions> = {},
): FollowingProxy {
  const applied: PlacedSnapshot[] = [];
  const logger = createRecordingLogger();
  const proxy = {
    applied,
    logger,
    status: { ready: false, draining: false, conns: 0 },
  };
  const client = new PushClient({
    url: `https://localhost:${String(port)}`,
    ca,
    tokenFile,
    proxyId: 'proxy-1',
    logger,
    handlers: {
      apply: (placed) => {
        applied.push(placed);
        return [];
      },
      status: () => proxy.status,
    },
    ...options,
  });
  keep({ [Symbol.asyncDispose]: () => client.close() });
  return Object.assign(proxy, { client });
}

/** A proxy that follows, and a controller that took its stream. */
async function startFollowing(
  options: Partial<PushClientOptions> = {},
): Promise<FollowingProxy & { controller: ScriptedController; stream: ProxyStream }> {
  const controller = keep(await startScriptedController());
  const proxy = follow(controller, controller.port, options);
  const stream = await controller.nextStream();
  stream.accept();
  return Object.assign(proxy, { controller, stream });
}

/** Sends the snapshot at its first position, and waits until it is served. */
async function sendFirst(stream: ProxyStream): Promise<void> {
  stream.send(fullFrames(FIRST, RESOURCES));
  await stream.next('ack');
}

describe('a proxy with a controller', () => {
  test('sends its id, and no snapshot, in the first hello', async () => {
    const controller = keep(await startScriptedController());
    follow(controller, controller.port);
    const { headers } = await controller.nextStream();

    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': '/v1/stream',
      authorization: 'Bearer the-first-token',
      'x-proto': '1',
      'x-proxy-id': 'proxy-1',
    });
    expect(headers).not.toHaveProperty('x-have');
    expect(headers).not.toHaveProperty('x-routes');
    expect(controller.serverNames).toEqual(['localhost']);
  });

  test('serves a whole snapshot, and acknowledges it', async () => {
    const { applied, client, stream } = await startFollowing();
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
    const { applied, stream } = await startFollowing();
    const resources = resourcesOf(
      aCompiledRoute('team/app', { path: { kind: 'regex', value: '/ä€😀+' } }),
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
    const { applied, stream } = await startFollowing();
    await sendFirst(stream);
    const next = snapshotOf(
      resourcesOf(compiledSettings(), aCompiledRoute(), aCompiledRoute('team/new')),
    );
    stream.send(deltaFrames(SECOND, SNAPSHOT, next));

    expect(await stream.next('ack')).toMatchObject({ seq: 2, version: next.version });
    expect(applied.at(-1)?.snapshot).toEqual(next);
  });

  test('names the snapshot that it serves when it reconnects', async () => {
    const { controller, client, stream: first } = await startFollowing();
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
    const { applied } = follow(controller, controller.port, { serving });
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
    const { controller, stream: first } = await startFollowing();
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
    const { applied, client } = follow(controller, relay.port);
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
    const { controller, applied, stream: first } = await startFollowing();
    first.send(fullFrames(FIRST, RESOURCES).slice(0, 2));
    first.end();
    const second = await controller.nextStream();
    second.accept();
    second.send(fullFrames(SECOND, RESOURCES));

    await second.next('ack');
    expect(applied.map(({ position }) => position)).toEqual([SECOND]);
  });

  test('answers a ping', async () => {
    const { stream } = await startFollowing();
    stream.send([{ t: 'ping' }]);

    expect(await stream.next('pong')).toEqual({ t: 'pong' });
  });

  test('reports its status at once, on changes, and regularly', async () => {
    const proxy = await startFollowing({ timing: { statusMs: 100 } });
    const { stream } = proxy;
    expect(await stream.next('status')).toEqual({
      t: 'status',
      ready: false,
      draining: false,
      conns: 0,
    });
    proxy.status = { ready: true, draining: false, conns: 7 };
    await eventually('it says so', () =>
      stream.frames.some((frame) => frame.t === 'status' && frame.ready && frame.conns === 7),
    );
  });

  test('reports a change of readiness without waiting', async () => {
    const proxy = await startFollowing({ timing: { statusMs: 3_600_000 } });
    const { stream } = proxy;
    await stream.next('status');
    proxy.client.reportStatusChange();
    proxy.status = { ready: true, draining: true, conns: 1 };
    proxy.client.reportStatusChange();

    expect(await stream.next('status')).toMatchObject({ ready: true, draining: true });
  });

  test('accepts ten thousand routes', async () => {
    const resources = manyResources(10_000);
    const { applied, stream } = await startFollowing();
    stream.send(fullFrames(FIRST, resources));

    await stream.next('ack');
    expect(applied[0]?.snapshot.resources.size).toBe(resources.length);
  });
});

describe('a snapshot that is not served', () => {
  test('is rejected with everything that is wrong in it, and the one before still serves', async () => {
    const { applied, client, stream } = await startFollowing();
    await sendFirst(stream);
    const restricted = { ...aCompiledRoute('team/a'), onlyOnMondays: true };
    const unknownKind = { ...aCompiledRoute('team/b'), path: { kind: 'glob', value: '/*' } };
    // Another release of the controller, whose types are others.
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
    const { client, stream } = await startFollowing({
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
    const { logger, stream } = await startFollowing({
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
    const { applied, stream } = await startFollowing();
    stream.send(deltaFrames(FIRST, SNAPSHOT, snapshotOf([])));
    expect(await stream.next('nack')).toMatchObject({ rejected: [{ reason: 'UnknownBase' }] });
    stream.send(fullFrames(SECOND, RESOURCES));

    await stream.next('ack');
    expect(applied).toHaveLength(1);
  });
});

describe('a server that answers', () => {
  test('must have a certificate for the host of the URL', async () => {
    const controller = keep(await startScriptedController({ hosts: ['other.example.com'] }));
    const { logger } = follow(controller, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields).toMatchObject({
      problem: 'certificate',
      flag: '--controller',
      error: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    expect(controller.streams).toEqual([]);
  });

  test('must have a certificate that has not expired', async () => {
    const controller = keep(await startScriptedController({ validTo: new Date('2024-01-01') }));
    const { logger } = follow(controller, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]).toMatchObject({
      message: 'cannot connect to the controller',
      fields: {
        problem: 'certificate',
        serving: false,
        error: expect.stringContaining('certificate has expired'),
      },
    });
    expect(controller.streams).toEqual([]);
  });

  test('must have a certificate from the authorities', async () => {
    const controller = keep(await startScriptedController());
    await writeFile(controller.ca, createThrowawayAuthority().ca);
    const { logger } = follow(controller, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields).toMatchObject({
      problem: 'certificate',
      flag: '--controller-ca',
      file: controller.ca,
    });
    expect(logger.records[0]?.fields['error']).not.toContain('--use-system-ca');
    expect(controller.streams).toEqual([]);
  });

  test('can redirect the proxy to the leader', async () => {
    const leader = keep(await startScriptedController());
    const { authority } = leader;
    const other = keep(await startScriptedController({ authority }));
    const { applied } = follow(other, other.port);
    const asked = await other.nextStream();
    asked.refuse(503, { 'x-leader': `127.0.0.1:${String(leader.port)}` });
    const stream = await leader.nextStream();
    stream.accept();
    stream.send(fullFrames(FIRST, RESOURCES));

    await stream.next('ack');
    expect(applied).toHaveLength(1);
    expect(leader.serverNames).toEqual(['localhost']);
    expect(stream.headers[':authority']).toBe(`localhost:${String(other.port)}`);
  });

  test('cannot redirect the proxy to a server with a different name', async () => {
    const authority = createThrowawayAuthority();
    const thief = keep(await startScriptedController({ authority, hosts: ['127.0.0.1'] }));
    const other = keep(await startScriptedController({ authority }));
    const { logger } = follow(other, other.port);
    const asked = await other.nextStream();
    asked.refuse(503, { 'x-leader': `127.0.0.1:${String(thief.port)}` });
    // It comes back to the name it was given.
    await other.nextStream();

    expect(logger.records[0]?.fields['error']).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(thief.streams).toEqual([]);
  });

  test('cannot redirect the proxy twice', async () => {
    const controller = keep(await startScriptedController());
    const { logger } = follow(controller, controller.port);
    const redirect = { 'x-leader': `127.0.0.1:${String(controller.port)}` };
    (await controller.nextStream()).refuse(503, redirect);
    (await controller.nextStream()).refuse(503, redirect);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields['error']).toContain('redirected again');
  });

  test.each([
    '127.0.0.1',
    'https://127.0.0.1:1',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '[127.0.0.1:1',
    'a b:1',
    'user@127.0.0.1:1',
    '127.0.0.1:1/x',
  ])('names no leader with %s', async (named) => {
    const controller = keep(await startScriptedController());
    const { logger } = follow(controller, controller.port);
    (await controller.nextStream()).refuse(503, { 'x-leader': named });
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]).toMatchObject({ fields: { status: 503 } });
  });

  test.each([
    [401, 'wrong-audience', 'the controller refuses this proxy', 'refused'],
    [403, 'not-a-proxy', 'the controller refuses this proxy', 'refused'],
    [503, 'token-review-unavailable', 'the controller refuses this proxy', 'refused'],
    [503, 'no-leader', 'no controller leads yet', 'no-leader'],
  ])('may refuse it with %i %s, which is logged once', async (status, reason, message, problem) => {
    const controller = keep(await startScriptedController());
    const { logger } = follow(controller, controller.port);
    (await controller.nextStream()).refuse(status, { 'x-reason': reason });
    (await controller.nextStream()).refuse(status, { 'x-reason': reason });
    await controller.nextStream();

    expect(logger.records).toEqual([
      {
        level: 'warn',
        message,
        fields: {
          controller: `localhost:${String(controller.port)}`,
          address: `localhost:${String(controller.port)}`,
          serving: false,
          problem,
          status,
          reason,
        },
      },
    ]);
    expect(JSON.stringify(logger.records)).not.toContain('the-first-token');
  });

  test.each(['Bad', 'a b', 'x'.repeat(41), 'the-token-is-e30.e30'])(
    'is not repeated when it gives the reason %s',
    async (reason) => {
      const controller = keep(await startScriptedController());
      const { logger } = follow(controller, controller.port);
      (await controller.nextStream()).refuse(403, { 'x-reason': reason });
      await eventually('it says so', () => logger.messages('warn').length > 0);

      expect(logger.records[0]?.fields).toMatchObject({ problem: 'refused', status: 403 });
      expect(JSON.stringify(logger.records)).not.toContain(reason);
    },
  );
});

describe('a stream that breaks', () => {
  test.each([
    ['garbage', 'garbage\n'],
    ['a frame that there is not', '{"t":"reset"}\n'],
    ['a member that there is not', '{"t":"ping","force":true}\n'],
    ['a commit of nothing', `{"t":"commit","version":"${'0'.repeat(64)}"}\n`],
    ['a snapshot within a snapshot', beginTwice()],
    ['a line without an end', 'x'.repeat(LONGEST_CONTROLLER_LINE_BYTES + 1)],
  ])('is left because of %s, and the proxy comes again', async (_what, text) => {
    const { controller, client, logger, stream: first } = await startFollowing();
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
    const { client, logger } = follow(controller, relay.port, {
      timing: { pingMs: 50, silenceMs: 300 },
    });
    const stream = await controller.nextStream();
    stream.accept();
    await sendFirst(stream);
    relay.freeze();
    await eventually('the proxy notices', () => !client.isConnected);

    expect(logger.records.at(-1)?.fields).toMatchObject({
      problem: 'unreachable',
      serving: true,
      error: expect.stringContaining('does not answer'),
    });
    expect(client.serving?.position).toEqual(FIRST);
  });

  test('is kept while the controller answers pings and sends nothing else', async () => {
    const { controller, client, stream } = await startFollowing({
      timing: { pingMs: 20, silenceMs: 100, statusMs: 50 },
    });
    for (let count = 0; count < 8; count += 1) await stream.next('status');

    expect(client.isConnected).toBe(true);
    expect(controller.streams).toHaveLength(1);
  });

  test('is given up if the hello is never answered', async () => {
    const controller = keep(await startScriptedController());
    const { logger } = follow(controller, controller.port, { timing: { helloMs: 50 } });
    await controller.nextStream();
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
    const { logger } = follow(controller, relay.port);
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
    const { logger } = follow(controller, await freePort());
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields['error']).toContain('ECONNREFUSED');
  });

  test('does not keep a proxy from closing', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const controller = keep(await startScriptedController());
    const { client } = follow(controller, port);
    await once(server, 'connection');
    await client.close();
    server.close();

    expect(client.isConnected).toBe(false);
  });

  test('is not confused with a duplicate proxy id', async () => {
    const {
      controller,
      logger,
      stream: first,
    } = await startFollowing({ timing: { displacedMs: 300 } });
    first.send([{ t: 'goaway', reason: 'replaced' }]);
    await eventually('it says so', () => logger.messages('warn').length > 0);
    const since = performance.now();
    await controller.nextStream();

    expect(logger.records.at(-1)).toMatchObject({
      message: 'another proxy has the same id',
      fields: { problem: 'same-id', proxyId: 'proxy-1' },
    });
    expect(performance.now() - since).toBeGreaterThan(250);
  });
});

describe('a controller that hangs', () => {
  /** More than any test takes: nothing here is to go on because it is over. */
  const timing = { helloMs: 60_000, hedgeMs: 50 };

  /** What it does with connections is up to the test. */
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
    // A TCP server's address is one.
    return (server.address() as AddressInfo).port;
  }

  /** Takes connections as a process does that was stopped, and says nothing. */
  async function startHanging(): Promise<number> {
    return await startTcpServer(() => undefined);
  }

  /** Passes a connection on. What comes back goes to `onAnswer`. */
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
    const { client } = follow(controller, service.port, { timing });
    const stream = await controller.nextStream();
    stream.accept();
    await stream.next('status');

    expect(client.isConnected).toBe(true);
    expect(controller.streams).toHaveLength(1);
  });

  test('is bypassed if others name it as the leader', async () => {
    const controller = keep(await startScriptedController());
    const hanging = await startHanging();
    const { client } = follow(controller, controller.port, { timing });
    const named = { 'x-leader': `127.0.0.1:${String(hanging)}` };
    (await controller.nextStream()).refuse(503, named);
    const stream = await controller.nextStream();
    stream.accept();
    await stream.next('status');

    expect(client.isConnected).toBe(true);
  });

  test('is logged as hanging if others still name it as the leader', async () => {
    const controller = keep(await startScriptedController());
    const hanging = await startHanging();
    const { logger } = follow(controller, controller.port, {
      timing: { helloMs: 500, hedgeMs: 50 },
    });
    const named = { 'x-leader': `127.0.0.1:${String(hanging)}` };
    (await controller.nextStream()).refuse(503, named);
    (await controller.nextStream()).refuse(503, named);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields).toMatchObject({
      problem: 'unreachable',
      address: named['x-leader'],
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
    const { logger } = follow(other, other.port, { timing });
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
    const { client } = follow(controller, gate, { timing });
    const stream = await controller.nextStream();
    stream.accept();
    await stream.next('status');

    expect(client.isConnected).toBe(true);
    expect(controller.serverNames).toHaveLength(2);
    expect(controller.streams).toHaveLength(1);
  });

  test('gets one hello if it is only slow', async () => {
    const controller = keep(await startScriptedController());
    follow(controller, controller.port, { timing });
    const stream = await controller.nextStream();
    await wait(4 * timing.hedgeMs);
    stream.accept();
    await stream.next('status');

    expect(controller.serverNames).toHaveLength(1);
  });
});

describe('a file that cannot be used', () => {
  test.each([
    ['tokenFile', undefined, 'ENOENT'],
    ['tokenFile', 'no token at all', 'holds no token'],
    ['ca', undefined, 'ENOENT'],
    ['ca', 'nothing', 'holds no certificate'],
    ['ca', NO_CERTIFICATE, 'Error'],
  ] as const)('is named (%s, %j)', async (which, content, error) => {
    const controller = keep(await startScriptedController());
    const file = `${controller[which]}-of-nobody`;
    if (content !== undefined) await writeFile(file, content);
    const { ca, tokenFile } = controller;
    const { logger } = follow({ ca, tokenFile, [which]: file }, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]).toMatchObject({
      message: 'cannot connect to the controller',
      fields: {
        ...(which === 'ca'
          ? { problem: 'ca-file', flag: '--controller-ca' }
          : { problem: 'token-file', flag: '--token-file' }),
        file,
        serving: false,
        error: expect.stringContaining(error),
      },
    });
    expect(controller.streams).toEqual([]);
  });
});

test('a URL without TLS is refused', () => {
  expect(() => follow({ ca: 'none', tokenFile: 'none' }, 1, { url: 'http://localhost:1' })).toThrow(
    TypeError,
  );
});

function beginTwice(): string {
  const [begin] = fullFrames(SECOND, RESOURCES);
  return `${JSON.stringify(begin)}\n`.repeat(2);
}
