import type { StoredRoute } from '../kubernetes/stored-resources.ts';

/** A Route that this gateway must stop serving. It may still have a status of this gateway. */
export interface ReleasedRoute {
  readonly route: StoredRoute;
  /** It is being deleted, or its `gatewayClassName` names another gateway. */
  readonly why: 'deleted' | 'other-class';
}
