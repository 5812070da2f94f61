import type { RejectedEntry } from '../../../shared/snapshot/push-frames.ts';
import type { PlacedSnapshot } from '../../store/snapshot/snapshot-keeper.ts';

/** Returns the rejection of an invalid resource. The one that serves under its key keeps serving. */
export function invalidResource(
  key: string,
  message: string,
  serving: PlacedSnapshot | undefined,
): RejectedEntry {
  const served = serving?.snapshot.resources.get(key);
  const error = { key, reason: 'InvalidResource', message } as const;
  return served === undefined ? error : { ...error, servedHash: served.hash };
}
