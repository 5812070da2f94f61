import { isOfClass } from '../../controller/compile/is-of-class.ts';
import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../controller/kubernetes/resource-types.ts';
import { listWithinRights } from '../explain/list-within-rights.ts';
import { compareRoutes, routeFacts, type RouteFacts } from './route-facts.ts';

/** Routes to read, and when. */
export interface RoutesToRead {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly gatewayClass: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Reads the Routes of a gateway class in order. Rejects with a `CommandFailure` that names a missing right. */
export async function readRouteFacts(
  api: Pick<KubernetesApi, 'list'>,
  { namespace, gatewayClass, now }: RoutesToRead,
): Promise<readonly RouteFacts[]> {
  const objects = await listWithinRights(api, ROUTES, namespace);
  return objects
    .filter(({ spec }) => isOfClass(spec, gatewayClass))
    .map((object) => routeFacts(object, gatewayClass, now))
    .sort(compareRoutes);
}
