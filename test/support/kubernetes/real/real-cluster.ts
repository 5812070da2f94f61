import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { KubeConfig } from '@kubernetes/client-node';

import type { AdminClient, Cluster, ClusterCapabilities, ClusterFaults } from '../cluster.ts';
import { apiToken, podToken } from '../service-account-tokens.ts';
import { writeKubeconfig, type KubeconfigCluster } from '../write-kubeconfig.ts';

/** Options of the `Cluster` of a real API server. */
export interface RealClusterParts {
  readonly kind: Cluster['kind'];
  readonly capabilities: ClusterCapabilities;
  readonly adminKubeconfig: string;
  readonly admin: AdminClient;
  /** Directory for kubeconfig files. */
  readonly directory: string;
  readonly dispose: () => Promise<void>;
}

/** Makes the `Cluster` of a real API server. */
export function realCluster(parts: RealClusterParts): Cluster {
  const { kind, capabilities, adminKubeconfig, admin, directory, dispose } = parts;
  const address = addressIn(adminKubeconfig);
  return {
    kind,
    capabilities,
    adminKubeconfig,
    admin,
    kubeconfigFor: async (namespace, serviceAccount) => {
      const token = await apiToken(admin, { namespace, serviceAccount });
      const path = join(directory, `${randomUUID()}.kubeconfig`);
      await writeKubeconfig(path, address, { token });
      return path;
    },
    proxyToken: async (options) => await podToken(admin, options),
    get faults(): ClusterFaults {
      throw new Error(`a cluster of kind ${kind} has no faults: require the capability`);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

function addressIn(kubeconfig: string): KubeconfigCluster {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`${kubeconfig} names no cluster`);
  const { server, caData } = cluster;
  return { server, ...(caData !== undefined && { 'certificate-authority-data': caData }) };
}
