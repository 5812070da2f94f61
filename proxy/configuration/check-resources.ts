import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import { readyResource } from './ready-resource.ts';

/**
 * Finds the resources that this proxy cannot serve, each looked at by itself; those that cannot be
 * served beside each other are found when the configuration is built. The work is not lost:
 * a configuration with the same resources is built faster afterwards.
 *
 * In time slices: ten thousand resources would keep every request waiting.
 */
export async function checkResources(
  resources: Iterable<SnapshotResource>,
): Promise<readonly RejectedResource[]> {
  const rejected: RejectedResource[] = [];
  const slices = new TimeSlices();
  for (const { key, value } of resources) {
    try {
      readyResource(value);
    } catch (error) {
      rejected.push({ key, message: error instanceof Error ? error.message : String(error) });
    }
    await slices.pause();
  }
  return rejected;
}
