import type { ClusterKind } from './cluster-kind.ts';
import { findBinaries } from './real/find-binaries.ts';
import { realCapabilities } from './real/real-capabilities.ts';
import { sharedKind } from './real/shared-kind.ts';
import { startEtcd } from './real/start-etcd.ts';
import { startKubeApiserver } from './real/start-kube-apiserver.ts';

const ABSENCE =
  'no kube-apiserver and etcd: run `make kubernetes`, or name their directory in KUBEBUILDER_ASSETS';

/** A kube-apiserver and its etcd as processes, as envtest starts them: no controllers, no nodes. */
export function envtestKind(): ClusterKind {
  const binaries = findBinaries();
  if (binaries === undefined) return { kind: 'envtest', absence: ABSENCE };
  return sharedKind({
    kind: 'envtest',
    capabilities: realCapabilities({ namespaceController: false }),
    start: async (directory) => {
      await using stack = new AsyncDisposableStack();
      const { url } = stack.use(await startEtcd(binaries.etcd, directory));
      const program = binaries.kubeApiserver;
      const server = stack.use(await startKubeApiserver({ program, etcdUrl: url, directory }));
      const both = stack.move();
      return {
        adminKubeconfig: server.adminKubeconfig,
        [Symbol.asyncDispose]: async () => await both.disposeAsync(),
      };
    },
  });
}
