import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createAdminClient } from '../../support/kubernetes/admin-client.ts';
import type { Cluster } from '../../support/kubernetes/cluster.ts';
import { envtestKind } from '../../support/kubernetes/envtest-kind.ts';
import { FAKE_CAPABILITIES } from '../../support/kubernetes/fake/start-fake-cluster.ts';
import { realCluster } from '../../support/kubernetes/real/real-cluster.ts';

/** An API server that runs in other processes than this one. */
export interface BenchCluster extends AsyncDisposable {
  readonly cluster: Cluster;
}

/** Starts a kube-apiserver if there is one and `wantsFake` is false, else the fake. */
export async function openCluster(wantsFake: boolean): Promise<BenchCluster> {
  const kind = envtestKind();
  if (wantsFake || 'absence' in kind) return await openFake();
  await kind.start();
  // Ended with everything in it, because deleting all objects first would take minutes.
  return { cluster: await kind.open(), [Symbol.asyncDispose]: kind.close };
}

async function openFake(): Promise<BenchCluster> {
  await using opening = new AsyncDisposableStack();
  // Detached, so that Ctrl-C leaves its end to this process, which waits until all is cleaned up.
  const child = fork(join(import.meta.dirname, 'fake-server.ts'), { detached: true });
  opening.defer(async () => {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
  });
  // The child sends only this message.
  const [adminKubeconfig] = (await once(child, 'message')) as [string];
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-propagation-'));
  opening.defer(() => rm(directory, { recursive: true }));
  const admin = opening.use(await createAdminClient(adminKubeconfig));
  const cluster = realCluster({
    kind: 'fake',
    capabilities: FAKE_CAPABILITIES,
    adminKubeconfig,
    admin,
    directory,
    dispose: async () => await Promise.resolve(),
  });
  const open = opening.move();
  return { cluster, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
