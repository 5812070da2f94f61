import { randomBytes } from 'node:crypto';

import type { Cluster } from './cluster.ts';

/**
 * Creates a namespace with a name that nothing else uses, and returns the name: for tests that share
 * an API server.
 */
export async function createNamespace(
  { admin }: Pick<Cluster, 'admin'>,
  labels: Readonly<Record<string, string>> = {},
): Promise<string> {
  const name = `gatehouse-test-${randomBytes(6).toString('hex')}`;
  await admin.request('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  return name;
}
