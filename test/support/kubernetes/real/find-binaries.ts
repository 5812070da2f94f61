import { homedir } from 'node:os';
import { join } from 'node:path';

import { isExecutable } from '../../is-executable.ts';

/** Paths of the programs of an API server. */
export interface Binaries {
  readonly kubeApiserver: string;
  readonly etcd: string;
}

/** Directory of the project's own build. */
const BUILT = 'gatehouse-envtest/1.20.2-2';

/**
 * Finds kube-apiserver and etcd where envtest looks for them, and then where
 * `build-kube-apiserver.sh` leaves them; undefined if they are missing.
 */
export function findBinaries(): Binaries | undefined {
  const kubeApiserver = find('kube-apiserver', 'TEST_ASSET_KUBE_APISERVER');
  const etcd = findEtcd();
  return kubeApiserver === undefined || etcd === undefined ? undefined : { kubeApiserver, etcd };
}

/** Finds etcd alone, for API servers other than kube-apiserver. */
export function findEtcd(): string | undefined {
  return find('etcd', 'TEST_ASSET_ETCD');
}

function find(program: string, variable: string): string | undefined {
  const { [variable]: named, KUBEBUILDER_ASSETS: assets } = process.env;
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
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
