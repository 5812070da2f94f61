import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import { readyResource } from './ready-resource.ts';
import type { ResourceFault } from './unservable-error.ts';

/**
 * Finds the resources that this proxy cannot serve, each looked at by itself; those that cannot be
 * served beside each other are found when the configuration is built. The work is not lost:
 * a configuration with the same resources is built faster afterwards.
 */
export function checkResources(resources: Iterable<SnapshotResource>): readonly ResourceFault[] {
  const faults: ResourceFault[] = [];
  for (const { key, value } of resources) {
    try {
      readyResource(value);
    } catch (error) {
      faults.push({ key, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return faults;
}
