import {
  watchConfiguration,
  reportProblems,
  type Loaded,
} from '../../controller/files/load-configuration.ts';
import type { ServedFiles } from '../../controller/files/file-compiler.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import { Gateway } from '../../proxy/gateway.ts';
import { ProxyMetrics } from '../../proxy/telemetry/metrics/proxy-metrics.ts';
import { UpstreamAuthLog } from '../../proxy/upstream-oauth/upstream-auth-log.ts';
import { startAdminServer } from '../../shared/admin/admin-server.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import type { RedisTarget } from '../../proxy/store/redis/connection/redis-target.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { monotonicClock } from '../../shared/runtime/clock.ts';
import { CommandFailure } from '../command-failure.ts';
import { CertificateExpiryLog } from './certificate-expiry-log.ts';
import { load } from './load.ts';
import { hasIpv6Loopback, listenAddresses } from '../flags/listen-addresses.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';
import { listening } from './listening.ts';
import { measureProcess } from './measure-process.ts';
import { openState } from './open-state.ts';
import { openTracing } from './open-tracing.ts';
import { findProcessKeys } from './process-keys.ts';
import type { RunFlags } from '../commands/run/run-flags.ts';

/** What sets the addresses of the gateway, for messages, in manifests and in plain YAML. */
const LISTEN_SETTINGS =
  '--listen, by `from` of a route, by `authenticateUrl` (`authenticate_url`), or by --listen-tls';

/** Options of a standalone gateway. */
export interface StandaloneOptions extends Omit<RunFlags, 'redis'> {
  /** Where state is kept; undefined: in memory. */
  readonly redis: RedisTarget | undefined;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly lines: LineWriter;
}

/** A gateway in this process, with its configuration from files. */
export interface StandaloneGateway {
  /** Where it accepts requests, each as `HOST:PORT`. */
  readonly addresses: readonly string[];
  readonly adminAddress: string;
  /** Lets requests under way finish for a while, then closes the admin port and the stores. */
  close(): Promise<void>;
}

/**
 * Starts controller and proxy in this process: reads the configuration, serves it, and applies its
 * changes. Throws `CommandFailure` if nothing valid can be served or a port cannot be opened; then
 * nothing stays open.
 */
export async function startStandaloneGateway(
  options: StandaloneOptions,
): Promise<StandaloneGateway> {
  const { logger } = options;
  await using opening = new AsyncDisposableStack();
  const tracing = opening.use(openTracing({ ...options, service: 'gatehouse' }));
  const loaded = await load(options);
  const first = servedAtStart(loaded, options);
  const keys = await findProcessKeys(options, logger);
  const { metrics: registry } = opening.use(
    await measureProcess({ lines: options.lines, tracer: tracing.tracer }),
  );
  const metrics = new ProxyMetrics(registry);
  const sealer = new Sealer(keys.sealingKeys);
  const state = opening.use(await openState(options, { sealer, metrics: metrics.redis }));
  let serving = first;
  let isReady = false;

  const admin = await listening(
    startAdminServer(
      options.adminListen,
      { isReady: () => isReady, snapshot: () => serving.snapshot },
      { metrics: registry, logger },
    ),
    '--admin-listen',
  );
  opening.defer(() => admin.close());
  const upstreamAuthReports = opening.use(new UpstreamAuthLog(logger));
  const gateway = new Gateway({
    ...options,
    tracing,
    upstreamAuthReports,
    sealingKeys: keys.sealingKeys,
    defaultSigningKeys: keys.assertionKeys,
    stores: state.stores,
    metrics,
  });
  opening.defer(() => gateway.close());
  await gateway.apply(first.snapshot);
  const bound = await listening(gateway.listen(wantedAddresses(first, options)), LISTEN_SETTINGS);
  isReady = true;
  const expiry = opening.use(
    new CertificateExpiryLog({ logger, clock: monotonicClock, wallTime: () => new Date() }),
  );
  expiry.watch(first.certificates);

  const watcher = watchConfiguration(loaded, options, {
    logger,
    apply: async (changed) => {
      await applyChange(changed, gateway, options);
      serving = changed;
      expiry.watch(changed.certificates);
    },
  });
  opening.defer(() => watcher.close());
  const open = opening.move();
  return {
    addresses: bound.map(formatAddress),
    adminAddress: formatAddress(admin.address),
    close: () => {
      isReady = false;
      return open.disposeAsync();
    },
  };
}

/** Returns the first configuration. Without a last good version it needs valid settings and a route. */
function servedAtStart(
  { served, problems }: Loaded,
  { path, logger }: StandaloneOptions,
): ServedFiles {
  reportProblems(logger, problems);
  if (served === undefined) throw new CommandFailure(`the settings in ${path} are not valid`);
  if (served.routeCount > 0) return served;
  throw new CommandFailure(`there is no valid route in ${path}, and so nothing to serve`);
}

/** Applies a change, without waiting for connections that could delay the next change. */
async function applyChange(
  served: ServedFiles,
  gateway: Gateway,
  options: StandaloneOptions,
): Promise<void> {
  const { logger } = options;
  const { version } = served.snapshot;
  if (gateway.version() === version) return;
  await gateway.apply(served.snapshot);
  logger.info('configuration applied', { version, routes: served.routeCount });
  const opened = gateway.listen(wantedAddresses(served, options));
  listening(opened, LISTEN_SETTINGS).catch((error: unknown) => {
    logger.error('a route has no listener', {}, error);
  });
}

function wantedAddresses(
  { snapshot }: ServedFiles,
  { listen, listenTls }: StandaloneOptions,
): readonly ListenAddress[] {
  return listenAddresses(snapshot, [...listen, ...listenTls], hasIpv6Loopback());
}
