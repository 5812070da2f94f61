import { writeFile } from 'node:fs/promises';

import { stringify } from 'yaml';

/** Credentials of the user of a kubeconfig. */
export type KubeconfigUser =
  | { readonly token: string }
  | { readonly 'client-certificate-data': string; readonly 'client-key-data': string };

/** Address of an API server, and the authority that it is trusted by. */
export interface KubeconfigCluster {
  readonly server: string;
  /** Base64 of PEM; undefined for the authorities that the system trusts. */
  readonly 'certificate-authority-data'?: string;
}

/** Writes a kubeconfig file that only its owner can read. */
export async function writeKubeconfig(
  path: string,
  cluster: KubeconfigCluster,
  user: KubeconfigUser,
): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  await writeFile(path, stringify(config), { mode: 0o600 });
}
