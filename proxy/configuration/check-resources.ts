import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import { readyResource } from './ready-resource.ts';

/**
 * Finds the resources that this proxy cannot serve, each checked alone. Resources that cannot be served
 * beside each other are found when the configuration is built. What is made ready here is reused then.
 *
 * Works in time slices: ten thousand resources at once would delay every request.
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
