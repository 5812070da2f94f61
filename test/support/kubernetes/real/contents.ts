import { ApiStatusError } from '../api-status-error.ts';
import type { AdminClient, ClusterCapabilities } from '../cluster.ts';

/** Collections of the objects that tests and the controller create, without namespaces. */
const COLLECTIONS = [
  '/apis/gatehouse.dev/v1alpha1/routes',
  '/apis/gatehouse.dev/v1alpha1/gatewaysettings',
  '/apis/gateway.networking.k8s.io/v1beta1/referencegrants',
  '/apis/discovery.k8s.io/v1/endpointslices',
  '/apis/coordination.k8s.io/v1/leases',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/api/v1/pods',
  '/api/v1/serviceaccounts',
  '/api/v1/secrets',
  '/api/v1/services',
  '/api/v1/configmaps',
  '/api/v1/events',
];
const NAMESPACES = '/api/v1/namespaces';

/** The members of a list of objects that are used here. */
interface ObjectList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly namespace?: string };
  }[];
}

/** The objects in an API server of the tests at some time, by their paths. */
export interface Contents {
  readonly objects: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

/** Records the present objects, without those in namespaces of the API server. */
export async function readContents(admin: AdminClient): Promise<Contents> {
  const read = async (collection: string): Promise<readonly string[]> =>
    await readPaths(admin, collection);
  const objects = await Promise.all(COLLECTIONS.map(read));
  return { objects: new Set(objects.flat()), namespaces: new Set(await read(NAMESPACES)) };
}

/** Deletes the objects that did not exist at that time. */
export async function restoreContents(
  admin: AdminClient,
  before: Contents,
  { namespaceController }: Pick<ClusterCapabilities, 'namespaceController'>,
): Promise<void> {
  const now = await readContents(admin);
  const objects = [...now.objects].filter((path) => !before.objects.has(path));
  await Promise.all(objects.map(async (path) => await remove(admin, path)));
  const namespaces = [...now.namespaces].filter((path) => !before.namespaces.has(path));
  for (const path of namespaces) {
    await remove(admin, path);
    if (!namespaceController) await letGo(admin, path);
  }
}

/** Deletes an object at once, unless it is deleted already, or about to be. */
export async function remove(admin: Pick<AdminClient, 'request'>, path: string): Promise<void> {
  try {
    await admin.request('DELETE', `${path}?gracePeriodSeconds=0`);
  } catch (error) {
    if (!(error instanceof ApiStatusError) || ![404, 409].includes(error.code)) throw error;
  }
}

/** Finalizes a namespace, because no controller reports that it is empty. */
async function letGo(admin: AdminClient, namespacePath: string): Promise<void> {
  const namespace = (await admin.request('GET', namespacePath)) as object;
  await admin.request('PUT', `${namespacePath}/finalize`, { ...namespace, spec: {} });
}

async function readPaths(admin: AdminClient, collection: string): Promise<readonly string[]> {
  // Every collection of an API server is such a list.
  const { items } = (await admin.request('GET', collection)) as ObjectList;
  return items
    .filter(({ metadata: { namespace = '' } }) => !namespace.startsWith('kube-'))
    .map(({ metadata: { name, namespace } }) => pathOf(collection, name, namespace));
}

function pathOf(collection: string, name: string, namespace: string | undefined): string {
  if (namespace === undefined) return `${collection}/${name}`;
  const slash = collection.lastIndexOf('/');
  const root = collection.slice(0, slash);
  return `${root}/namespaces/${namespace}${collection.slice(slash)}/${name}`;
}
