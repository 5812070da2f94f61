import type { PresentKind } from './cluster-kind.ts';
import { FAKE_CAPABILITIES, startFakeCluster } from './fake/start-fake-cluster.ts';

/** An API server in this process, which is always there. */
export const FAKE_KIND: PresentKind = {
  kind: 'fake',
  capabilities: FAKE_CAPABILITIES,
  start: async () => await Promise.resolve(),
  open: async () => await startFakeCluster(),
  close: async () => await Promise.resolve(),
};
