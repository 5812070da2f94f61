import type { ControllerFrame, PutFrame } from '../../../shared/snapshot/push-frames.ts';

/** A `put` with a resource that is not parsed yet. */
export interface ReceivedPut extends Omit<PutFrame, 'v'> {
  readonly v: unknown;
}

/** A frame as it arrives from the controller. */
export type ReceivedFrame = Exclude<ControllerFrame, PutFrame> | ReceivedPut;
