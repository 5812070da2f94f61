import type { AdminClient } from '../../support/kubernetes/cluster.ts';
import { hostOf } from '../../support/kubernetes/gateway-manifests.ts';

/** Collection of the Routes. */
export const ROUTES_PATH = '/apis/gatehouse.dev/v1alpha1/namespaces/team/routes';

/** Requests in flight at a time. */
const CONCURRENCY = 8;

/** Creates public Routes, each with a host of its own. */
export async function createRoutes(
  admin: AdminClient,
  names: readonly string[],
  to: string,
): Promise<void> {
  const rest = names.values();
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    for (const name of rest) await admin.request('POST', ROUTES_PATH, manifest(name, to));
  });
  await Promise.all(workers);
}

/** Sends a Route to a different upstream. */
export async function changeRoute(admin: AdminClient, name: string, to: string): Promise<void> {
  await admin.request(
    'PATCH',
    `${ROUTES_PATH}/${name}`,
    { spec: { to } },
    { 'content-type': 'application/merge-patch+json' },
  );
}

/** Deletes all Routes. */
export async function deleteRoutes(admin: AdminClient): Promise<void> {
  await admin.request('DELETE', ROUTES_PATH);
}

function manifest(name: string, to: string): object {
  return {
    apiVersion: 'gatehouse.dev/v1alpha1',
    kind: 'Route',
    metadata: { name, namespace: 'team', labels: { 'app.kubernetes.io/name': name } },
    spec: {
      from: `http://${hostOf(name)}`,
      to,
      prefix: '/mcp',
      timeouts: { request: '30s' },
      allowPublicUnauthenticatedAccess: true,
    },
  };
}
