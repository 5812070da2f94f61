import type { PartedRoute } from '../watch/parted-route.ts';
import { toCondition, type Claim } from './condition.ts';
import type { RouteStatus } from './route-status.ts';

const DELETING: Claim = {
  status: 'False',
  reason: 'Deleting',
  message: 'The route is being deleted, and is taken out of service.',
};
const FOR_ANOTHER_GATEWAY: Claim = {
  status: 'False',
  reason: 'OtherGatewayClass',
  message:
    'The route is for another gateway by its gatewayClassName, and this one takes it out of service.',
};

/**
 * The last status that a Route gets from this gateway; undefined when it has nothing of it that would
 * have to be taken back.
 *
 * One condition has to stay: API servers have refused a status that lost its last one. Whoever the
 * Route is for now writes over it.
 */
export function partingStatus(
  { object, why }: PartedRoute,
  gatewayClass: string,
  { current, now }: { readonly current: RouteStatus | undefined; readonly now: Date },
): RouteStatus | undefined {
  if (current?.gatewayClassName !== gatewayClass) return undefined;
  const { generation = 0 } = object.metadata;
  const since = { generation, current: current.conditions, now };
  if (why === 'left') {
    const conditions = [toCondition('Programmed', FOR_ANOTHER_GATEWAY, since)];
    return { observedGeneration: generation, conditions };
  }
  const conditions = [
    toCondition('Accepted', DELETING, since),
    toCondition('Programmed', DELETING, since),
  ];
  return { gatewayClassName: gatewayClass, observedGeneration: generation, conditions };
}
