import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ClusterKind } from './cluster-kind.ts';
import { noContainerEngineReason } from './container-engine.ts';
import { realCapabilities } from './real/real-capabilities.ts';
import { sharedKind } from './real/shared-kind.ts';

const IMAGE = 'rancher/k3s:v1.34.1-k3s1';

/** A whole cluster in a container. */
export async function k3sKind(): Promise<ClusterKind> {
  const absence = await noContainerEngineReason();
  if (absence !== undefined) return { kind: 'k3s', absence };
  return sharedKind({
    kind: 'k3s',
    capabilities: realCapabilities({ namespaceController: true }),
    start: async (directory) => {
      const { K3sContainer } = await import('@testcontainers/k3s');
      const container = await new K3sContainer(IMAGE).start();
      const adminKubeconfig = join(directory, 'admin.kubeconfig');
      await writeFile(adminKubeconfig, container.getKubeConfig(), { mode: 0o600 });
      return {
        adminKubeconfig,
        [Symbol.asyncDispose]: async () => {
          await container.stop();
        },
      };
    },
  });
}
