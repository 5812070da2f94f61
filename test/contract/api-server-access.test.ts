import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { createAdminClient } from '../support/kubernetes/admin-client.ts';
import type { AdminClient } from '../support/kubernetes/cluster.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { openWatch } from '../support/kubernetes/open-watch.ts';
import { coreIn, leasesIn, routesIn } from '../support/kubernetes/paths.ts';
import { replaceToken } from '../support/kubernetes/replace-token.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute } from '../support/resources.ts';

const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const FORBIDDEN = { code: 403, reason: 'Forbidden' };

/** A rule of a Role. */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

describeWithClusters(['rbac', 'tokens'], 'a ServiceAccount', (openCluster) => {
  const cluster = openForAll(openCluster);
  let namespace: string;
  let kubeconfig: string;
  let client: AdminClient & AsyncDisposable;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
    kubeconfig = await cluster().kubeconfigFor(namespace, 'somebody');
    client = await createAdminClient(kubeconfig);
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
  });

  /** Grants the ServiceAccount a permission in its namespace, and waits until it takes effect. */
  async function allow(rule: Rule, isKnown: () => Promise<unknown>): Promise<void> {
    const metadata = { name: 'somebody' };
    await cluster().admin.request('POST', `${RBAC}/namespaces/${namespace}/roles`, {
      metadata,
      rules: [rule],
    });
    await cluster().admin.request('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'somebody' },
      subjects: [{ kind: 'ServiceAccount', name: 'somebody', namespace }],
    });
    await eventually('the role is known', async () => await isAllowed(isKnown));
  }

  test('may do nothing without a role', async () => {
    await expect(client.request('GET', routesIn(namespace))).rejects.toMatchObject(FORBIDDEN);
    await expect(openWatch(kubeconfig, `${routesIn(namespace)}?watch=1`)).rejects.toMatchObject(
      FORBIDDEN,
    );
    await expect(
      client.request('POST', TOKEN_REVIEWS, { spec: { token: 'a' } }),
    ).rejects.toMatchObject(FORBIDDEN);
  });

  test('may do what a Role allows, in its namespace only', async () => {
    const other = await createNamespace(cluster());
    const list = async (): Promise<unknown> => await client.request('GET', routesIn(namespace));
    await allow({ apiGroups: ['gatehouse.dev'], resources: ['routes'], verbs: ['list'] }, list);

    expect(await list()).toMatchObject({ kind: 'RouteList' });
    await expect(client.request('GET', routesIn(other))).rejects.toMatchObject(FORBIDDEN);
    await expect(client.request('GET', routesIn())).rejects.toMatchObject(FORBIDDEN);
    await expect(openWatch(kubeconfig, `${routesIn(namespace)}?watch=1`)).rejects.toMatchObject(
      FORBIDDEN,
    );
    await expect(
      client.request('POST', routesIn(namespace), aRoute({}, { namespace })),
    ).rejects.toMatchObject(FORBIDDEN);
  });

  test('may do what a ClusterRole allows, in every namespace', async () => {
    const binding = { metadata: { name: namespace } };
    await cluster().admin.request('POST', `${RBAC}/clusterroles`, {
      ...binding,
      rules: [{ apiGroups: ['gatehouse.dev'], resources: ['routes'], verbs: ['list', 'watch'] }],
    });
    await cluster().admin.request('POST', `${RBAC}/clusterrolebindings`, {
      ...binding,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace },
      subjects: [{ kind: 'ServiceAccount', name: 'somebody', namespace }],
    });
    const list = async (): Promise<unknown> => await client.request('GET', routesIn());

    await eventually('the role is known', async () => await isAllowed(list));
    await using lines = await openWatch(kubeconfig, `${routesIn()}?watch=1&timeoutSeconds=1`);

    expect(lines).toBeDefined();
    await expect(client.request('GET', coreIn(namespace, 'secrets'))).rejects.toMatchObject(
      FORBIDDEN,
    );
  });

  test('needs a separate permission for the status', async () => {
    await cluster().admin.request('POST', routesIn(namespace), aRoute({}, { namespace }));
    const { apiVersion, kind } = aRoute();
    const write = async (subresource: string): Promise<unknown> =>
      await client.request(
        'PATCH',
        `${routesIn(namespace)}/app${subresource}?fieldManager=gatehouse&force=true`,
        { apiVersion, kind, metadata: { name: 'app', namespace }, status: { mcpRole: 'server' } },
        { 'content-type': 'application/apply-patch+yaml' },
      );
    await allow(
      { apiGroups: ['gatehouse.dev'], resources: ['routes/status'], verbs: ['patch'] },
      async () => await write('/status'),
    );

    expect(await write('/status')).toMatchObject({ status: { mcpRole: 'server' } });
    await expect(write('')).rejects.toMatchObject(FORBIDDEN);
  });

  test('may watch the one object that a Role names', async () => {
    const secrets = coreIn(namespace, 'secrets');
    for (const name of ['named', 'other']) {
      await cluster().admin.request('POST', secrets, { metadata: { name } });
    }
    const named = `${secrets}?fieldSelector=metadata.name%3Dnamed`;
    await allow(
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['named'],
        verbs: ['get', 'list', 'watch'],
      },
      async () => await client.request('GET', `${secrets}/named`),
    );
    const { items } = (await client.request('GET', named)) as { readonly items: readonly object[] };
    await using lines = await openWatch(kubeconfig, `${named}&watch=1&timeoutSeconds=1`);

    expect(items).toMatchObject([{ metadata: { name: 'named' } }]);
    expect(lines).toBeDefined();
    await expect(client.request('GET', `${secrets}/other`)).rejects.toMatchObject(FORBIDDEN);
    await expect(client.request('GET', secrets)).rejects.toMatchObject(FORBIDDEN);
    await expect(
      client.request('GET', `${secrets}?fieldSelector=metadata.name%3Dother`),
    ).rejects.toMatchObject(FORBIDDEN);
  });

  test('may update the one Lease that a Role names, once it exists', async () => {
    const leases = leasesIn(namespace);
    const rule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
    const lease = await cluster().admin.request('POST', leases, { metadata: { name: 'leader' } });
    const hold = async (): Promise<unknown> =>
      await client.request('PUT', `${leases}/leader`, lease);
    await allow({ ...rule, resourceNames: ['leader'], verbs: ['get', 'update', 'create'] }, hold);

    expect(await hold()).toMatchObject({ metadata: { name: 'leader' } });
    // A Role cannot name an object that is being created: the request has no name yet.
    await expect(
      client.request('POST', leases, { metadata: { name: 'leader' } }),
    ).rejects.toMatchObject(FORBIDDEN);
  });

  test('is not authenticated with a forged token', async () => {
    await replaceToken(kubeconfig, 'made-up');
    await using impostor = await createAdminClient(kubeconfig);

    await expect(impostor.request('GET', routesIn(namespace))).rejects.toMatchObject({
      code: 401,
      reason: 'Unauthorized',
    });
  });
});

describeWithClusters(['namespaceController'], 'a namespace that is deleted', (openCluster) => {
  test('deletes its objects with it', async () => {
    await using cluster = await openCluster();
    const namespace = await createNamespace(cluster);
    await cluster.admin.request('POST', routesIn(namespace), aRoute({}, { namespace }));
    const { metadata } = (await cluster.admin.request('GET', routesIn(namespace))) as {
      readonly metadata: { readonly resourceVersion: string };
    };
    await cluster.admin.request('DELETE', `/api/v1/namespaces/${namespace}`);
    const { resourceVersion } = metadata;
    await using lines = await openWatch(
      cluster.adminKubeconfig,
      `${routesIn(namespace)}?watch=1&timeoutSeconds=20&resourceVersion=${resourceVersion}`,
    );

    expect(await lines.next()).toMatchObject({
      type: 'DELETED',
      object: { metadata: { name: 'app' } },
    });
    await eventually('the namespace is gone', async () => {
      const error: unknown = await cluster.admin
        .request('GET', `/api/v1/namespaces/${namespace}`)
        .catch((refusal: unknown) => refusal);
      return (error as { readonly code?: number }).code === 404;
    });
  });
});

/** Whether the response to a request is not 403. */
async function isAllowed(request: () => Promise<unknown>): Promise<boolean> {
  try {
    await request();
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === FORBIDDEN.code) return false;
    throw error;
  }
}
