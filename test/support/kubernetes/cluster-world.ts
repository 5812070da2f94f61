import { startRedis, type TestRedis } from '../redis/start-redis.ts';
import {
  startClusterGateway,
  type ClusterGateway,
  type ClusterGatewayOptions,
} from './cluster-gateway.ts';
import type { Cluster } from './cluster.ts';

/** A gateway in a cluster of its own, with its Redis. */
export interface ClusterWorld extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly redis: TestRedis;
  readonly gateway: ClusterGateway;
}

/** Options of a gateway in a cluster of its own. */
export type ClusterWorldOptions = Omit<ClusterGatewayOptions, 'cluster' | 'redisUrl'>;

/** Starts a gateway, and waits until all of its proxies serve a Route named `first`. */
export async function startClusterWorld(
  openCluster: () => Promise<Cluster>,
  options: ClusterWorldOptions,
): Promise<ClusterWorld> {
  await using opening = new AsyncDisposableStack();
  const redis = opening.use(await startRedis());
  const cluster = opening.use(await openCluster());
  const gateway = opening.use(
    await startClusterGateway({ ...options, cluster, redisUrl: redis.url }),
  );
  await gateway.applyRoute('first');
  await gateway.untilServed('first');
  const opened = opening.move();
  return { cluster, redis, gateway, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
