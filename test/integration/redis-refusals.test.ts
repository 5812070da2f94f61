import { expect, test } from '@jest/globals';

import { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { parseRedisUrl } from '../../proxy/store/redis/connection/redis-url.ts';
import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import { eventually } from '../support/eventually.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { createRecordingLogger } from '../support/redis/recording-logger.ts';
import { startRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedisSentinel } from '../support/redis/start-redis-sentinel.ts';
import { startRedis } from '../support/redis/start-redis.ts';

const SECRET = 'a-password-that-nobody-may-see';

/** The logged reason for which Redis cannot be reached. */
async function firstReason(url: string): Promise<unknown> {
  const logger = createRecordingLogger();
  await using connection = new RedisConnection(parseRedisUrl(url), { logger });
  await eventually('it is logged', () => logger.messages('warn').length > 0);
  await expect(connection.send('PING')).rejects.toThrow(StoreUnavailableError);
  return logger.records[0]?.fields['reason'];
}

describeWithRedis('the log of a connection that cannot be opened', () => {
  test('reports a certificate that is not trusted', async () => {
    await using redis = await startRedis({ tls: true });
    const url = `rediss://127.0.0.1:${String(redis.port)}`;
    expect(await firstReason(url)).toContain('SELF_SIGNED_CERT');
  });

  test('reports a file that cannot be read', async () => {
    await using redis = await startRedis({ tls: true });
    const url = `rediss://127.0.0.1:${String(redis.port)}?ca_file=/nowhere/ca.pem`;
    expect(await firstReason(url)).toBe('ENOENT /nowhere/ca.pem');
  });

  test('reports a server that is not a Cluster', async () => {
    await using redis = await startRedis();
    const url = `redis+cluster://127.0.0.1:${String(redis.port)}`;
    expect(await firstReason(url)).toBe('ERR: this is not a Redis Cluster');
  });

  test('reports a node of a Cluster that is configured as a single server', async () => {
    await using cluster = await startRedisCluster();
    await using client = await connected(`redis://127.0.0.1:${String(cluster.nodes[0]?.port)}`);
    const writes = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => client.connection.send('GET', key));
    await expect(Promise.all(writes)).rejects.toThrow('redis+cluster://');
  });

  test('reports a replica', async () => {
    await using sentinel = await startRedisSentinel();
    const master = await sentinel.master();
    const replica = sentinel.servers.find((server) => server !== master);
    expect(await firstReason(`redis://127.0.0.1:${String(replica?.port)}`)).toContain('replica');
  });

  test('reports sentinels that refuse the user, or do not know the master', async () => {
    await using sentinel = await startRedisSentinel({ password: 'right' });
    const hosts = sentinel.sentinels.map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
    const ofUnknown = await firstReason(`redis+sentinel://${hosts}/unknown`);
    expect(ofUnknown).toBe('no sentinel knows the master by this name');
    const url = `redis+sentinel://${hosts}/gatehouse?sentinel_user=x&sentinel_password=${SECRET}`;
    const ofStranger = await firstReason(url);
    expect(ofStranger).toBe('WRONGPASS: user or password is wrong (sentinel)');
    const withoutPassword = await firstReason(`redis+sentinel://${hosts}/gatehouse`);
    expect(withoutPassword).toBe('NOAUTH: user and password are missing');
  });
});
