import { snapshotOf } from '../../../shared/snapshot/hash-resource.ts';
import type { ControllerFrame } from '../../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { Snapshot, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';

/** The frames of a whole snapshot. */
export function fullFrames(
  position: SnapshotPosition,
  resources: readonly SnapshotResource[],
): readonly ControllerFrame[] {
  return deltaFrames(position, undefined, snapshotOf(resources));
}

/** The frames that change one snapshot into another. */
export function deltaFrames(
  { epoch, sequence: seq }: SnapshotPosition,
  base: Snapshot | undefined,
  next: Snapshot,
): readonly ControllerFrame[] {
  const put = [...next.resources.values()].filter(
    ({ key, hash }) => base?.resources.get(key)?.hash !== hash,
  );
  const deleted = [...(base?.resources.keys() ?? [])].filter((key) => !next.resources.has(key));
  const count = put.length + deleted.length;
  return [
    { t: 'begin', epoch, seq, base: base?.version ?? null, count },
    ...put.map(({ key: k, hash: h, value: v }) => ({ t: 'put', k, h, v }) as const),
    ...deleted.map((k) => ({ t: 'del', k }) as const),
    { t: 'commit', version: next.version },
  ];
}
