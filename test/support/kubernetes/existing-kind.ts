import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { KubeConfig } from '@kubernetes/client-node';

import { createAdminClient } from './admin-client.ts';
import type { ClusterKind } from './cluster-kind.ts';
import {
  FOREIGN_DEFINITIONS,
  missingDefinitions,
  OUR_DEFINITIONS,
} from './definitions/install-definitions.ts';
import { CarefulRequest } from './existing/careful-request.ts';
import { realCapabilities } from './real/real-capabilities.ts';
import { realCluster } from './real/real-cluster.ts';

/**
 * The cluster of the current kubeconfig, if USE_EXISTING_CLUSTER is `true`. It must have the
 * definitions; the tests delete everything else that they create there.
 */
export async function existingKind(): Promise<ClusterKind> {
  if (process.env['USE_EXISTING_CLUSTER'] !== 'true') {
    return { kind: 'existing', absence: 'USE_EXISTING_CLUSTER is not true' };
  }
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-kubernetes-'));
  const adminKubeconfig = await writeCurrentKubeconfig(directory);
  const absence = await unfitReason(adminKubeconfig);
  const close = async (): Promise<void> => await rm(directory, { recursive: true, force: true });
  if (absence !== undefined) {
    await close();
    return { kind: 'existing', absence };
  }
  const capabilities = realCapabilities({ namespaceController: true });
  return {
    kind: 'existing',
    capabilities,
    start: async () => await Promise.resolve(),
    open: async () => {
      let careful: CarefulRequest | undefined;
      const admin = await createAdminClient(adminKubeconfig, (request) => {
        careful = new CarefulRequest(request);
        return careful.send;
      });
      return realCluster({
        kind: 'existing',
        capabilities,
        adminKubeconfig,
        admin,
        directory,
        dispose: async () => {
          await careful?.[Symbol.asyncDispose]();
          await admin[Symbol.asyncDispose]();
        },
      });
    },
    close,
  };
}

async function unfitReason(kubeconfig: string): Promise<string | undefined> {
  await using admin = await createAdminClient(kubeconfig);
  const missing = await missingDefinitions(admin, [...OUR_DEFINITIONS, ...FOREIGN_DEFINITIONS]);
  return missing.length === 0 ? undefined : `the cluster does not define ${missing.join(', ')}`;
}

/** The current kubeconfig in one file, found as kubectl finds it. */
async function writeCurrentKubeconfig(directory: string): Promise<string> {
  const config = new KubeConfig();
  config.loadFromDefault();
  const path = join(directory, 'admin.kubeconfig');
  await writeFile(path, config.exportConfig(), { mode: 0o600 });
  return path;
}
