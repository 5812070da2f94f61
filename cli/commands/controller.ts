import { hostname } from 'node:os';

import { startController } from '../../controller/controller.ts';
import { ControllerMetrics } from '../../controller/telemetry/controller-metrics.ts';
import { startAdminServer } from '../../shared/admin/admin-server.ts';
import { untilTerminated } from '../../shared/runtime/lifecycle.ts';
import { openProcessLog } from '../../shared/telemetry/process-log.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { SnapshotDigest } from '../../shared/snapshot/snapshot-digest.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';
import { listening } from '../process/listening.ts';
import { measureProcess } from '../process/measure-process.ts';
import { openTracing } from '../process/open-tracing.ts';
import { checkCertificate } from './controller/check-certificate.ts';
import { readControllerFlags } from './controller/controller-flags.ts';
import { findCluster } from './controller/find-cluster.ts';

const NAME = 'gatehouse-controller';

/** Runs `gatehouse controller`, the control plane of a cluster, until a signal ends it. */
export async function runController(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const options = readControllerFlags(flags);
  const lines = openProcessLog(stdout);
  const logger = createLogger('controller', lines);
  const terminated = untilTerminated();
  await using opening = new AsyncDisposableStack();
  const tracing = opening.use(openTracing({ service: NAME, environment, logger }));
  await checkCertificate(options);
  const { api, namespace } = await findCluster(options, environment, NAME);
  const { metrics: registry } = opening.use(
    await measureProcess({ lines, tracer: tracing.tracer }),
  );
  const metrics = new ControllerMetrics(registry);
  const controller = await listening(
    startController({
      ...{ ...options, api, namespace, logger, metrics, tracing },
      audit: createLogger('audit', lines),
      host: hostname(),
    }),
    '--push-listen',
  );
  opening.defer(() => controller.close());
  let isEnding = false;
  const admin = await listening(
    startAdminServer(
      options.adminListen,
      {
        isReady: () => controller.isReady && !isEnding,
        whyNotReady: () =>
          isEnding ? 'stopping' : 'not everything has been read from the API server',
        snapshot: () => ({
          version: SnapshotDigest.of(controller.table.values()).version(),
          resources: controller.table,
        }),
      },
      { metrics: registry, logger },
    ),
    '--admin-listen',
  );
  opening.defer(() => admin.close());
  logger.info('listening', {
    addresses: [formatAddress(controller.pushAddress)],
    admin: formatAddress(admin.address),
    namespace,
    class: options.gatewayClass,
  });
  const signal = await Promise.race([terminated, controller.failed]);
  isEnding = true;
  logger.info('stopping', { signal });
  await opening.disposeAsync();
  logger.info('stopped');
  return 0;
}
