import { randomBytes } from 'node:crypto';

import type { ResourceType } from '../kubernetes/kubernetes-api.ts';
import { apiVersionOf } from '../kubernetes/resource-types.ts';
import { wholeSeconds } from './condition.ts';
import { clip } from '../../shared/runtime/clip.ts';
import type { StatusEvent } from './events-of-change.ts';

/** The object that an Event is about. */
export interface InvolvedObject {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** Without it `kubectl describe` does not find the Event. */
  readonly uid: string | undefined;
}

const COMPONENT = 'gatehouse';
const MAX_MESSAGE = 1024;
const MAX_NAME = 253;
const RANDOM_BYTES = 8;

/** Builds a core/v1 Event. `identity` names this process, as in the Lease. */
export function eventObject(
  { type, namespace, name, uid }: InvolvedObject,
  event: StatusEvent,
  { identity, now }: { readonly identity: string; readonly now: Date },
): object {
  const time = wholeSeconds(now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: eventName(name) },
    involvedObject: {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      namespace,
      name,
      ...(uid !== undefined && { uid }),
    },
    ...event,
    message: clip(event.message, MAX_MESSAGE),
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    reportingInstance: identity,
  };
}

/** A unique name, which begins with the name of the object as far as there is room. */
function eventName(name: string): string {
  const suffix = `.${randomBytes(RANDOM_BYTES).toString('hex')}`;
  // A label must not end with a hyphen, and must not be empty.
  return name.slice(0, MAX_NAME - suffix.length).replace(/[-.]+$/, '') + suffix;
}
