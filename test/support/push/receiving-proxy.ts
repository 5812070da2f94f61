import {
  SnapshotReceiver,
  type ApplySnapshot,
  type SnapshotFrame,
} from '../../../proxy/push/staging/snapshot-receiver.ts';
import type { PlacedSnapshot } from '../../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../../shared/snapshot/hash-resource.ts';
import {
  type ControllerFrame,
  type RejectedEntry,
  type ProxyFrame,
} from '../../../shared/snapshot/push-frames.ts';
import type { RejectedResource } from '../../../shared/snapshot/rejected-resource.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { aCompiledService } from '../compiled-resources.ts';
import { compiledSettings } from '../compiled-settings.ts';
import { aFullRoute, resourcesOf } from './some-resources.ts';
import { createRecordingLogger } from '../redis/recording-logger.ts';

/** Position of the snapshot that serves. */
export const FIRST = { epoch: 3, sequence: 5 };
/** Resources of the snapshot that serves. */
export const RESOURCES = resourcesOf(
  compiledSettings(),
  aFullRoute('team/a'),
  aFullRoute('team/b'),
  aCompiledService(),
);
/** The snapshot that serves. */
export const SNAPSHOT = snapshotOf(RESOURCES);
/** The snapshot that serves, with its position. */
export const SERVING: PlacedSnapshot = { position: FIRST, snapshot: SNAPSHOT };

/** A receiver, and the snapshots that it applied. */
export interface Receiving {
  readonly receiver: SnapshotReceiver;
  readonly applied: readonly PlacedSnapshot[];
}

/** Creates a receiver that applies every snapshot but those that `reject` names resources of. */
export function receiving(
  serving?: PlacedSnapshot,
  reject?: (placed: PlacedSnapshot) => readonly RejectedResource[],
  tracer?: Tracer,
): Receiving {
  const applied: PlacedSnapshot[] = [];
  const apply: ApplySnapshot = (placed) => {
    const rejected = reject?.(placed) ?? [];
    if (rejected.length > 0) return rejected;
    applied.push(placed);
    return [];
  };
  return {
    receiver: new SnapshotReceiver(serving, { apply, logger: createRecordingLogger(), tracer }),
    applied,
  };
}

/** Hands frames to the receiver as they arrive on the wire, and returns the answer. */
export async function take(
  { receiver }: Receiving,
  frames: readonly ControllerFrame[],
): Promise<ProxyFrame | undefined> {
  let answer: ProxyFrame | undefined;
  for (const frame of frames) {
    const line = JSON.stringify(frame);
    // All frames belong to a snapshot.
    answer = await receiver.receive(JSON.parse(line) as SnapshotFrame, line.length);
  }
  return answer;
}

/** Hands frames to the receiver, and returns what its nack rejects. */
export async function rejectedOf(
  under: Receiving,
  frames: readonly ControllerFrame[],
): Promise<readonly RejectedEntry[]> {
  const answer = await take(under, frames);
  if (answer?.t !== 'nack') throw new Error(`not rejected: ${JSON.stringify(answer)}`);
  return answer.rejected;
}

/** Resources of the snapshot, with one route changed. */
export function changed(upstream = 'http://other.internal'): readonly SnapshotResource[] {
  const [route] = resourcesOf(aFullRoute('team/a', { upstream }));
  return RESOURCES.map((each) => (each.key === route?.key ? route : each));
}
