/** Runs the API server of the tests as a separate process, until its parent ends. */
import { startFakeCluster } from '../../support/kubernetes/fake/start-fake-cluster.ts';

await using cluster = await startFakeCluster();
process.send?.(cluster.adminKubeconfig);
await new Promise((resolve) => process.once('disconnect', resolve));
