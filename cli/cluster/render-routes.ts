import { withoutAbsent } from '../../shared/runtime/without-absent.ts';
import { formatAge } from './age.ts';
import type { RouteFacts } from './route-facts.ts';
import { table } from './table.ts';

/** How to show Routes. */
export interface RoutesView {
  readonly isWide: boolean;
  /** The namespace that all Routes are of; undefined if each must say it. */
  readonly namespace: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Writes Routes as a table like those of `kubectl`. */
export function routesTable(
  routes: readonly RouteFacts[],
  { isWide, namespace, now }: RoutesView,
): string {
  const heading = [
    ...(namespace === undefined ? ['NAMESPACE'] : []),
    ...['NAME', 'FROM', 'KIND', 'ACCEPTED', 'PROGRAMMED', 'REASON', 'AGE'],
    ...(isWide ? ['TO', 'MESSAGE'] : []),
  ];
  const rows = routes.map((route) => [
    ...(namespace === undefined ? [route.namespace] : []),
    ...[route.name, route.from, route.kind, route.accepted, route.programmed],
    ...[route.cause?.reason ?? '', formatAge(now - route.createdAt)],
    ...(isWide ? [route.to, route.cause?.message ?? ''] : []),
  ]);
  return table([heading, ...rows]);
}

/** Returns a Route as JSON and YAML show it. */
export function routeValue(route: RouteFacts): object {
  const { namespace, name, from, to, kind, accepted, programmed, state, cause } = route;
  const { warnings, certificates } = route;
  return withoutAbsent({
    namespace,
    name,
    from,
    to: to === '' ? undefined : to,
    kind,
    accepted,
    programmed,
    state,
    reason: cause?.reason,
    message: cause?.message,
    warnings: warnings.map(({ reason, message }) => ({ reason, message })),
    certificates,
  });
}
