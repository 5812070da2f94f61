import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { applyObjects, kubectl } from './kubectl.ts';

/** Makes volumes of the cluster, in this directory of the node, as an administrator does without a StorageClass. */
export async function makeVolumes(directory: string, names: readonly string[]): Promise<void> {
  const node = await kubectl('get', 'nodes', '--output', 'jsonpath={.items[0].metadata.name}');
  for (const name of names) {
    const path = join(directory, name);
    await mkdir(path);
    await applyObjects(volumeObject(name, path, node));
  }
}

function volumeObject(name: string, path: string, node: string): object {
  const isNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isNode] }] } },
    },
  };
}
