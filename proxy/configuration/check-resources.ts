import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import { makeResourceReady } from './make-resource-ready.ts';

/**
 * Finds the resources that this proxy cannot serve, and checks each of them alone. Building the
 * configuration finds those that cannot be served beside each other, and reuses the work done here.
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
      makeResourceReady(value);
    } catch (error) {
      rejected.push({ key, message: error instanceof Error ? error.message : String(error) });
    }
    await slices.pause();
  }
  return rejected;
}
