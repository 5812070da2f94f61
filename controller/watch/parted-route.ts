import type { KubernetesObject } from '../kubernetes/objects.ts';

/** A Route that is there, does not serve here any more, and may say in its status that it does. */
export interface PartedRoute {
  readonly object: KubernetesObject;
  /**
   * The last generation that was for this gateway, of a Route that is for another one; undefined for
   * one that is being deleted.
   */
  readonly lastGeneration?: number;
}
