import type { ClusterKind } from './cluster-kind.ts';
import { findBinaries } from './real/find-binaries.ts';
import { capabilitiesOf, minorVersionOf } from './real/kube-version.ts';
import { sharedKind } from './real/shared-kind.ts';
import { startEtcd } from './real/start-etcd.ts';
import { startKubeApiserver } from './real/start-kube-apiserver.ts';

const ABSENCE =
  'no kube-apiserver and etcd: name their directory in KUBEBUILDER_ASSETS, or on Debian run test/support/build-kube-apiserver.sh';

/** A kube-apiserver and its etcd as processes, as envtest starts them: no controllers, no nodes. */
export function envtestKind(): ClusterKind {
  const binaries = findBinaries();
  if (binaries === undefined) return { kind: 'envtest', absence: ABSENCE };
  const minorVersion = minorVersionOf(binaries.kubeApiserver);
  return sharedKind({
    kind: 'envtest',
    capabilities: capabilitiesOf(minorVersion, { namespaceController: false }),
    start: async (directory) => {
      await using stack = new AsyncDisposableStack();
      const { url } = stack.use(await startEtcd(binaries.etcd, directory));
      const program = binaries.kubeApiserver;
      const server = stack.use(
        await startKubeApiserver({ program, minorVersion, etcdUrl: url, directory }),
      );
      const both = stack.move();
      return {
        adminKubeconfig: server.adminKubeconfig,
        [Symbol.asyncDispose]: async () => await both.disposeAsync(),
      };
    },
  });
}
