import { homedir } from 'node:os';
import { join } from 'node:path';

import { isExecutable } from '../../is-executable.ts';

/** Paths of the programs of an API server. */
export interface Binaries {
  readonly kubeApiserver: string;
  readonly etcd: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Directory of the project's own build, as `test/support/cluster/common.sh` names it. */
const BUILT = 'gatehouse-cluster/v1.35.4-1/bin';

/**
 * Finds kube-apiserver and etcd where envtest looks for them, and then where
 * `make kubernetes` leaves them; undefined if they are missing.
 */
export function findBinaries(variables: Variables = process.env): Binaries | undefined {
  const kubeApiserver = find('kube-apiserver', variables['TEST_ASSET_KUBE_APISERVER'], variables);
  const etcd = find('etcd', variables['TEST_ASSET_ETCD'], variables);
  return kubeApiserver === undefined || etcd === undefined ? undefined : { kubeApiserver, etcd };
}

function find(
  program: string,
  named: string | undefined,
  { KUBEBUILDER_ASSETS: assets, XDG_CACHE_HOME: cache = join(homedir(), '.cache') }: Variables,
): string | undefined {
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...[
      ...(assets === undefined ? [] : [assets]),
      '/usr/local/kubebuilder/bin',
      join(cache, BUILT),
    ].map((directory) => join(directory, program)),
  ];
  return candidates.find(isExecutable);
}
