import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { readVersion } from '../../cli/read-version.ts';
import { readSealingKeys } from '../../cli/process/sealing-keys.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import type { PlacedSnapshot } from '../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { runGatehouse, startGatehouse, type GatehouseProcess } from '../support/cli.ts';
import { disposeAfterEach } from '../support/dispose-after-each.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { writeGatewayFiles, type GatewayFiles } from '../support/kubernetes/gateway-files.ts';
import { pushedRoute, pushedSettings } from '../support/push/push-resources.ts';
import { startScriptedController } from '../support/push/scripted-controller.ts';
import { metricFaults } from '../support/metrics/metric-faults.ts';
import { scrapeProcess } from '../support/metrics/scrape.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';

const NOBODY = '127.0.0.1:1';
const VERSION = await readVersion();
const KEPT: PlacedSnapshot = {
  position: { epoch: 3, sequence: 1 },
  snapshot: snapshotOf([pushedSettings(), pushedRoute('a')]),
};

let files: GatewayFiles;
const keep = disposeAfterEach();

beforeAll(async () => {
  files = await writeGatewayFiles();
  await writeFile(join(files.directory, 'token'), 'the-token');
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

/** Flags of a proxy whose Redis and controllers are unreachable, and which drains for an hour. */
function flags(changes: Readonly<Record<string, string>> = {}): readonly string[] {
  const all = {
    controller: `https://${NOBODY}`,
    'controller-ca': files.caFile,
    'token-file': join(files.directory, 'token'),
    'proxy-id': 'proxy-0',
    listen: '127.0.0.1:0',
    'admin-listen': '127.0.0.1:0',
    'redis-url': `redis://${NOBODY}`,
    'sealing-keys-dir': files.sealingKeysDirectory,
    'drain-delay': '1h',
    ...changes,
  };
  return ['proxy', ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])];
}

function startProxy(
  changes: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string>> = {},
): GatehouseProcess {
  return keep(startGatehouse(flags(changes), variables));
}

function hasMessage(message: string): (record: Readonly<Record<string, unknown>>) => boolean {
  return (record) => record['message'] === message;
}

/** Whether a log record gives the cause of a failed connection to the controller. */
function isAboutController(record: Readonly<Record<string, unknown>>): boolean {
  return record['controller'] !== undefined && record['error'] !== undefined;
}

/** The sealer of the proxies. */
async function sealer(): Promise<Sealer> {
  return new Sealer(await readSealingKeys(files.sealingKeysDirectory));
}

/** A cache directory with a snapshot in it. */
async function cacheDirectory(): Promise<string> {
  const directory = join(files.directory, 'cache');
  await new FileSnapshotKeeper({ directory, id: 'gatehouse', sealer: await sealer() }).save(KEPT);
  return directory;
}

describe('the end of a proxy', () => {
  test('is immediate before the proxy serves a snapshot', async () => {
    const proxy = startProxy();
    await proxy.logged(hasMessage('started'));
    proxy.signal('SIGTERM');

    expect(await proxy.exited()).toBe(0);
    expect(proxy.stderr).toBe('');
    expect(proxy.log.at(-1)).toMatchObject({ message: 'stopped' });
  });

  test('follows a start that a signal interrupts', async () => {
    const proxy = startProxy();
    // The start waits for Redis from here on.
    await proxy.logged(hasMessage('sealing keys'));
    proxy.signal('SIGTERM');

    expect(await proxy.exited()).toBe(0);
    expect(proxy.stderr).toBe('');
  });

  test('waits for the drain delay, or for a second signal', async () => {
    const proxy = startProxy({ 'cache-dir': await cacheDirectory() });
    await proxy.listening();
    proxy.signal('SIGTERM');
    await proxy.logged(hasMessage('stopping'));
    proxy.signal('SIGTERM');

    expect(await proxy.exited()).toBe(1);
    expect(proxy.log.map(({ message }) => message)).not.toContain('stopped');
  });

  test('leaves nothing open after the drain', async () => {
    const proxy = startProxy({ 'cache-dir': await cacheDirectory(), 'drain-delay': '100ms' });
    await proxy.listening();
    proxy.signal('SIGINT');

    expect(await proxy.exited()).toBe(0);
    expect(proxy.stderr).toBe('');
  });
});

describe('the metrics of a proxy', () => {
  test('say that Redis and the controllers are away, and what serves nevertheless', async () => {
    const proxy = startProxy({ 'cache-dir': await cacheDirectory() });
    const { admin } = await proxy.logged(hasMessage('started'));
    await proxy.listening();
    const { metrics, value, samples } = await scrapeProcess(admin);

    expect(metricFaults(metrics.values())).toEqual([]);
    expect(value('gatehouse_redis_reachable')).toBe(0);
    expect(value('gatehouse_controller_connected')).toBe(0);
    expect(value('gatehouse_snapshot_epoch')).toBe(3);
    const { version } = KEPT.snapshot;
    expect(samples('gatehouse_snapshot_info')).toMatchObject([{ labels: { version } }]);
  });
});

describe('a proxy that cannot start', () => {
  let taken: ReturnType<typeof createServer>;
  let address: string;

  beforeEach(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    // A TCP server has an address of this type.
    address = `127.0.0.1:${String((taken.address() as AddressInfo).port)}`;
  });

  afterEach(() => {
    taken.close();
  });

  test('ends if the admin port is in use', async () => {
    const result = await runGatehouse(flags({ 'admin-listen': address }));

    expect(result).toMatchObject({
      code: 1,
      stderr: `gatehouse: cannot listen on ${address}: the port is in use; it is set by --admin-listen\n`,
    });
  });

  test('ends if it has a snapshot to serve, and the port is in use', async () => {
    const changes = { listen: address, 'cache-dir': await cacheDirectory() };
    const result = await runGatehouse(flags(changes));

    expect(result).toMatchObject({
      code: 1,
      stderr: `gatehouse: cannot listen on ${address}: the port is in use; it is set by --listen or --listen-tls\n`,
    });
  });

  test('names the directory of the sealing keys', async () => {
    const result = await runGatehouse(flags({ 'sealing-keys-dir': '/nowhere/keys' }));

    expect(result).toMatchObject({
      code: 1,
      stderr: 'gatehouse: cannot read sealing keys in /nowhere/keys: ENOENT\n',
    });
  });
});

describe('a proxy with an unusable file', () => {
  test.each(['controller-ca', 'token-file'])('names it, and the flag: %s', async (flag) => {
    const proxy = startProxy({ [flag]: '/nowhere/file', 'cache-dir': await cacheDirectory() });
    const record = await proxy.logged(hasMessage('a file cannot be read'));
    expect(record).toMatchObject({ flag: `--${flag}`, file: '/nowhere/file', reason: 'ENOENT' });

    // Serving the last good snapshot needs no controller.
    await proxy.listening();
  });

  test('reports a file that holds no certificate', async () => {
    const file = join(files.directory, 'token');
    const proxy = startProxy({ 'controller-ca': file });
    const record = await proxy.logged(isAboutController);

    expect(record).toMatchObject({ problem: 'ca-file', flag: '--controller-ca', file });
    expect(record['error']).toContain('holds no certificate');
  });

  test('trusts no controller of another authority, whatever the environment says', async () => {
    await using controller = await startScriptedController();
    const proxy = startProxy(
      { controller: `https://localhost:${String(controller.port)}` },
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    );
    const record = await proxy.logged(isAboutController);

    const where = { flag: '--controller-ca', file: files.caFile };
    expect(record).toMatchObject({ problem: 'certificate', ...where });
    expect(controller.streams).toEqual([]);
  });
});

describeWithRedis('the metrics of a proxy that has all', () => {
  test('say so', async () => {
    await using redis = await startRedis();
    await using controller = await startScriptedController();
    const proxy = startProxy({
      controller: `https://localhost:${String(controller.port)}`,
      'controller-ca': controller.ca,
      'redis-url': redis.url,
    });
    const { admin } = await proxy.logged(hasMessage('started'));
    (await controller.nextStream()).accept();
    await eventually('the proxy is connected', async () => {
      return (await scrapeProcess(admin)).value('gatehouse_controller_connected') === 1;
    });
    const { value, samples } = await scrapeProcess(admin);

    expect(value('gatehouse_redis_reachable')).toBe(1);
    expect(samples('gatehouse_snapshot_info')).toEqual([]);
    expect(samples('gatehouse_build_info')).toMatchObject([{ labels: { version: VERSION } }]);
  });
});

describeWithRedis('a proxy that starts without Redis and controllers', () => {
  test('serves the stored snapshot once Redis is back, and names it to the controller', async () => {
    await using redis = await startRedis({ keepsData: true });
    await using client = await connected(redis.url);
    await new RedisSnapshotKeeper(client.connection, {
      id: 'gatehouse',
      sealer: await sealer(),
    }).save(KEPT);
    await redis.stop();
    await using controller = await startScriptedController();
    const proxy = startProxy({
      controller: `https://localhost:${String(controller.port)}`,
      'controller-ca': controller.ca,
      'redis-url': redis.url,
    });
    // The proxy connects without a snapshot, and receives none.
    const first = await controller.nextStream();
    first.accept();
    expect(first.headers['x-have']).toBeUndefined();
    await proxy.logged(hasMessage('last good snapshot cannot be read'));
    await redis.start();
    await proxy.listening();
    const second = await controller.nextStream();

    expect(second.headers['x-have']).toBe(`3.1:${KEPT.snapshot.version}`);
    await eventually('the first stream is closed', () => first.isClosed);
    const warnings = proxy.log.filter(hasMessage('last good snapshot cannot be read'));
    expect(warnings).toHaveLength(1);
  });

  test('serves a snapshot that another proxy stores later', async () => {
    await using redis = await startRedis({ keepsData: true });
    await using client = await connected(redis.url);
    const keeper = new RedisSnapshotKeeper(client.connection, {
      id: 'gatehouse',
      sealer: await sealer(),
    });
    await redis.stop();
    const admin = `127.0.0.1:${String(await freePort())}`;
    const proxy = startProxy({ 'redis-url': redis.url, 'admin-listen': admin });
    await proxy.logged(hasMessage('last good snapshot cannot be read'));
    expect((await fetch(`http://${admin}/readyz`)).status).toBe(503);
    await redis.start();
    await eventually('the snapshot is stored', async () => {
      const outcome = await keeper.save(KEPT).catch(() => undefined);
      return outcome !== undefined;
    });
    await proxy.listening();

    expect((await fetch(`http://${admin}/readyz`)).status).toBe(200);
  });
});
