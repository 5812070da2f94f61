import { isOfClass } from '../compile/is-of-class.ts';
import type { StoredResource, StoredRoute } from '../kubernetes/stored-resources.ts';
import type { ReleasedRoute } from './released-route.ts';

/** Selects the resources of one gateway class. All others are ignored. */
export class GatewayClassFilter {
  readonly #gatewayClass: string;

  constructor(gatewayClass: string) {
    this.#gatewayClass = gatewayClass;
  }

  /** The resource if it is of the class, else undefined. */
  select<R extends StoredResource<unknown>>(resource: R | undefined): R | undefined {
    return isOfClass(resource?.spec, this.#gatewayClass) ? resource : undefined;
  }

  /** The Route if it is of the class and may be served; one that is being deleted may not. */
  selectServable(route: StoredRoute | undefined): StoredRoute | undefined {
    return route?.metadata.deletionTimestamp === undefined ? this.select(route) : undefined;
  }

  /** The Route as a released one; undefined if this gateway serves it, or never served it. */
  selectReleased(route: StoredRoute | undefined): ReleasedRoute | undefined {
    if (route === undefined || this.selectServable(route) !== undefined) return undefined;
    if (this.select(route) !== undefined) return { route, why: 'deleted' };
    const hasOurStatus = route.status?.gatewayClassName === this.#gatewayClass;
    return hasOurStatus ? { route, why: 'other-class' } : undefined;
  }
}

/** Whether two versions of a resource compile to the same result: a new status does not change it. */
export function compilesToSame(
  one: StoredResource<unknown> | undefined,
  other: StoredResource<unknown> | undefined,
): boolean {
  if (one === undefined || other === undefined) return one === other;
  const { uid, generation, creationTimestamp } = one.metadata;
  return (
    uid === other.metadata.uid &&
    generation === other.metadata.generation &&
    creationTimestamp === other.metadata.creationTimestamp
  );
}
