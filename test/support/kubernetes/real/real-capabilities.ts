import type { ClusterCapabilities } from '../cluster.ts';

/** Capabilities of a real API server, of any version that the controller supports. */
export function realCapabilities({
  namespaceController,
}: Pick<ClusterCapabilities, 'namespaceController'>): ClusterCapabilities {
  return {
    rbac: true,
    tokens: true,
    faults: false,
    namespaceController,
    tables: true,
    definitions: true,
  };
}
