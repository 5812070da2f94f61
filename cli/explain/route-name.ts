/** The namespace of routes in the plain form, and of manifests that name none. */
export const DEFAULT_NAMESPACE = 'default';

/** Returns the `NAMESPACE/NAME` of a route that is named so, or by its `NAME` alone. */
export function fullRouteName(route: string, namespace = DEFAULT_NAMESPACE): string {
  return route.includes('/') ? route : `${namespace}/${route}`;
}
