import { Sealer } from '../../proxy/crypto/sealer.ts';
import { Gateway } from '../../proxy/gateway.ts';
import { LastGoodFinder } from '../../proxy/push/last-good/last-good-finder.ts';
import { LastGood, type LastGoodPlaces } from '../../proxy/push/last-good/last-good.ts';
import { startAdminServer } from '../../shared/admin/admin-server.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import type { RedisTarget } from '../../proxy/store/redis/connection/redis-target.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';
import { listening } from './listening.ts';
import { measureProcess } from './measure-process.ts';
import { openState } from './open-state.ts';
import { openTracing } from './open-tracing.ts';
import { findProcessKeys } from './process-keys.ts';
import { ControllerLink } from '../../proxy/push/controller-link.ts';
import type { ProxyFlags } from '../commands/proxy/proxy-flags.ts';
import { ProxyMetrics } from '../../proxy/telemetry/metrics/proxy-metrics.ts';
import { Serving } from '../../proxy/push/serving.ts';
import { UpstreamAuthJournal } from '../../proxy/push/upstream-auth-journal.ts';
import { warnOfUnreadableFiles } from './unreadable-files.ts';

/** Long enough for a snapshot of ten megabytes over a slow link. */
const SNAPSHOT_TIMEOUT_MS = 30_000;

/** For a second connection to Redis: the connection of the stores logs outages already. */
const SILENT: Logger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Options of a proxy in a cluster. */
export interface ClusterProxyOptions extends Omit<ProxyFlags, 'redis'> {
  readonly redis: RedisTarget;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly lines: LineWriter;
}

/** A proxy that serves the snapshots of a controller. Disposing of it closes everything. */
export interface ClusterProxy extends AsyncDisposable {
  /** Rejects with a `CommandFailure` if the ports for a snapshot cannot be opened. */
  readonly failed: Promise<never>;
  /** Leaves the fleet. Requests that arrive before clients notice are still served. */
  drain(): Promise<void>;
}

/**
 * Starts a proxy with the last good snapshot, if there is one, and then with the snapshots that the
 * controller pushes. It listens once it has a snapshot.
 *
 * Throws `CommandFailure` if the admin port is taken, keys cannot be read, or Redis refuses.
 */
export async function startClusterProxy(options: ClusterProxyOptions): Promise<ClusterProxy> {
  const { logger, proxyId } = options;
  const listen = [...options.listen, ...options.listenTls];
  await using opening = new AsyncDisposableStack();
  const tracing = opening.use(
    openTracing({ ...options, service: 'gatehouse-proxy', instance: proxyId }),
  );
  const keys = await findProcessKeys({ ...options, stateDirectory: undefined }, logger);
  await warnOfUnreadableFiles(options, logger);
  const { metrics: registry } = opening.use(
    await measureProcess({ lines: options.lines, tracer: tracing.tracer }),
  );
  const metrics = new ProxyMetrics(registry);
  const sealer = new Sealer(keys.sealingKeys);
  // A separate connection: slow commands for snapshots must not delay sessions.
  const redis = opening.use(
    new RedisConnection(
      { ...options.redis, commandTimeoutMs: SNAPSHOT_TIMEOUT_MS },
      { logger: SILENT },
    ),
  );
  const state = opening.use(await openState(options, { sealer, metrics: metrics.redis }));
  const upstreamAuth = new UpstreamAuthJournal();
  const gateway = new Gateway({
    ...options,
    devAllowLoopback: false,
    tracing,
    upstreamAuthReports: upstreamAuth,
    sealingKeys: keys.sealingKeys,
    defaultSigningKeys: keys.assertionKeys,
    stores: state.stores,
    metrics,
  });
  opening.defer(() => gateway.close());
  const places = placesOf(options, redis, sealer);
  const lastGood = opening.use(new LastGood(places, { logger }));
  const serving = new Serving({ gateway, lastGood, listen, logger });
  const admin = await listening(
    startAdminServer(options.adminListen, serving, { metrics: registry, logger }),
    '--admin-listen',
  );
  opening.defer(() => admin.close());
  logger.info('started', { admin: formatAddress(admin.address), proxy: proxyId });

  const finder = new LastGoodFinder(places, {
    serve: (placed) => serving.serveLastGood(placed),
    logger,
  });
  opening.defer(() => serving.stop());
  await finder.search();
  const link = opening.use(
    new ControllerLink({ ...options, upstreamAuth, tracer: tracing.tracer }, { serving, finder }),
  );
  metrics.snapshot.showController({
    position: () => serving.position(),
    isConnected: () => link.isConnected,
  });
  void serving.listening.then(() => link.reportStatusChange());
  const open = opening.move();
  return {
    failed: listening(serving.failed, '--listen or --listen-tls'),
    async drain() {
      const { drainDelayMs: minMs, drainTimeoutMs: timeoutMs } = options;
      link.stopSearching();
      await serving.stop();
      const drained = gateway.drain({ minMs, timeoutMs });
      link.reportStatusChange();
      await drained;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function placesOf(
  { gateway: id, cacheDirectory }: ClusterProxyOptions,
  redis: RedisConnection,
  sealer: Sealer,
): LastGoodPlaces {
  return {
    ...(cacheDirectory !== undefined && {
      file: new FileSnapshotKeeper({ directory: cacheDirectory, id, sealer }),
    }),
    redis: new RedisSnapshotKeeper(redis, { id, sealer }),
  };
}
