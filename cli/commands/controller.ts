import { hostname } from 'node:os';

import { startAdminServer } from '../../shared/admin/admin-server.ts';
import { untilTerminated } from '../../shared/runtime/lifecycle.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { SnapshotDigest } from '../../shared/snapshot/snapshot-digest.ts';
import type { Command } from '../command.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';
import { listening } from '../process/listening.ts';
import { checkCertificate } from './controller/check-certificate.ts';
import { CONTROLLER_LINE, readControllerOptions } from './controller/controller-options.ts';
import { findCluster } from './controller/find-cluster.ts';

/** `gatehouse controller`: the control plane of a cluster, until a signal ends it. */
export const CONTROLLER: Command = {
  line: CONTROLLER_LINE,
  async run(flags) {
    const options = readControllerOptions(flags);
    const lines = new LineWriter(process.stdout);
    const logger = createLogger('controller', lines);
    const terminated = untilTerminated();
    await checkCertificate(options);
    const { api, namespace } = await findCluster(options);
    // Loaded here, because nothing else needs the client of Kubernetes.
    const { startController } = await import('../../controller/controller.ts');
    await using opening = new AsyncDisposableStack();
    const controller = await listening(
      startController({ ...options, api, namespace, logger, host: hostname() }),
    );
    opening.defer(() => controller.close());
    let isEnding = false;
    const admin = await listening(
      startAdminServer(options.adminListen, {
        isReady: () => controller.isReady && !isEnding,
        whyNotReady: () =>
          isEnding ? 'stopping' : 'not everything has been read from the API server',
        snapshot: () => ({
          version: SnapshotDigest.of(controller.table.values()).version(),
          resources: controller.table,
        }),
      }),
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
  },
};
