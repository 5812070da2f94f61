import type { RouteStatus } from '../kubernetes/stored-resources.ts';
import type { ReleasedRoute } from '../watch/released-route.ts';
import { toCondition, type ConditionState } from './condition.ts';

const DELETING: ConditionState = {
  status: 'False',
  reason: 'Deleting',
  message: 'The route is being deleted, so this gateway takes it out of service.',
};
const OTHER_CLASS: ConditionState = {
  status: 'False',
  reason: 'OtherGatewayClass',
  message: 'gatewayClassName names another gateway, so this one takes the route out of service.',
};

/**
 * Returns the last status that this gateway writes to a Route; undefined if the Route has no status of
 * this gateway.
 *
 * One condition stays, because some API servers refuse a status that lost its last condition. The
 * gateway that the Route belongs to overwrites it.
 */
export function releasedStatus(
  { route, why }: ReleasedRoute,
  gatewayClass: string,
  { current, now }: { readonly current: RouteStatus | undefined; readonly now: Date },
): RouteStatus | undefined {
  if (current?.gatewayClassName !== gatewayClass) return undefined;
  const { generation = 0 } = route.metadata;
  const since = { generation, current: current.conditions, now };
  if (why === 'other-class') {
    const conditions = [toCondition('Programmed', OTHER_CLASS, since)];
    return { observedGeneration: generation, conditions };
  }
  const conditions = [
    toCondition('Accepted', DELETING, since),
    toCondition('Programmed', DELETING, since),
  ];
  return { gatewayClassName: gatewayClass, observedGeneration: generation, conditions };
}
