/** Path of the Routes of a namespace, or of all of them. */
export function routesIn(namespace?: string): string {
  return collectionOf('/apis/gatehouse.dev/v1alpha1', 'routes', namespace);
}

/** Path of the Leases of a namespace. */
export function leasesIn(namespace: string): string {
  return collectionOf('/apis/coordination.k8s.io/v1', 'leases', namespace);
}

/** Path of objects of the core group in a namespace. */
export function coreIn(namespace: string, plural: string): string {
  return collectionOf('/api/v1', plural, namespace);
}

/** Path of the RoleBindings of a namespace. */
export function roleBindingsIn(namespace: string): string {
  return collectionOf('/apis/rbac.authorization.k8s.io/v1', 'rolebindings', namespace);
}

function collectionOf(root: string, plural: string, namespace: string | undefined): string {
  return namespace === undefined
    ? `${root}/${plural}`
    : `${root}/namespaces/${namespace}/${plural}`;
}
