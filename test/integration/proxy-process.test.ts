import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { readVersion } from '../../cli/read-version.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import { runGatehouse } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { hasMessage, isAboutController, KEPT, proxyProcesses } from '../support/proxy-processes.ts';
import { startScriptedController } from '../support/push/scripted-controller.ts';
import { metricFaults } from '../support/metrics/metric-faults.ts';
import { scrapeProcess } from '../support/metrics/scrape.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';

const VERSION = await readVersion();

const { files, argumentsWith, startProxy, sealer, cacheDirectory } = proxyProcesses();

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
    const result = await runGatehouse(argumentsWith({ 'admin-listen': address }));

    expect(result).toMatchObject({
      code: 1,
      stderr: `gatehouse: cannot listen on ${address}: the port is in use; it is set by --admin-listen\n`,
    });
  });

  test('ends if it has a snapshot to serve, and the port is in use', async () => {
    const changes = { listen: address, 'cache-dir': await cacheDirectory() };
    const result = await runGatehouse(argumentsWith(changes));

    expect(result).toMatchObject({
      code: 1,
      stderr: `gatehouse: cannot listen on ${address}: the port is in use; it is set by --listen or --listen-tls\n`,
    });
  });

  test('names the directory of the sealing keys', async () => {
    const result = await runGatehouse(argumentsWith({ 'sealing-keys-dir': '/nowhere/keys' }));

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
    const file = join(files().directory, 'token');
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

    const where = { flag: '--controller-ca', file: files().caFile };
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
