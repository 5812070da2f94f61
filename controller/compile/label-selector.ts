import type { GatewaySettings } from '../../crds/types.ts';

type AllowedRoutes = NonNullable<GatewaySettings['spec']['allowedRoutes']>;

/** A Kubernetes label selector. */
export type LabelSelector = NonNullable<NonNullable<AllowedRoutes['namespaces']>['selector']>;
/** Labels of a Kubernetes object. */
export type Labels = Readonly<Record<string, string>>;

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

/** Whether a selector selects labels. As in Kubernetes, the empty selector selects everything. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Labels,
): boolean {
  const isEqual = ([key, value]: readonly [string, string]): boolean =>
    labelOf(labels, key) === value;
  return (
    Object.entries(matchLabels).every(isEqual) &&
    matchExpressions.every((requirement) => holds(requirement, labels))
  );
}

function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
