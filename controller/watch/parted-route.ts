import type { KubernetesObject } from '../kubernetes/objects.ts';

/** A Route that is there, does not serve here any more, and may say in its status that it does. */
export interface PartedRoute {
  readonly object: KubernetesObject;
  /** Whether it is being deleted, or is for another gateway and has a status of this one. */
  readonly why: 'deleted' | 'left';
}
