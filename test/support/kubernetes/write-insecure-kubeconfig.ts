import { writeFile } from 'node:fs/promises';

import { stringify } from 'yaml';

/** Writes a kubeconfig for a server on loopback that has no TLS. */
export async function writeInsecureKubeconfig(path: string, server: string): Promise<void> {
  const config = {
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: 'token-of-a-test' } }],
    contexts: [
      { name: 'test', context: { cluster: 'test', user: 'test', namespace: 'gatehouse' } },
    ],
    'current-context': 'test',
  };
  await writeFile(path, stringify(config));
}
