import { beforeEach, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { createAdminClient } from '../support/kubernetes/admin-client.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { coreIn, routesIn } from '../support/kubernetes/paths.ts';
import { replaceToken } from '../support/kubernetes/replace-token.ts';
import { openForAll } from '../support/open-for-all.ts';

const AUDIENCE = 'gatehouse-controller';
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

describeWithClusters(['tokens'], 'tokens of a ServiceAccount', (openCluster) => {
  const cluster = openForAll(openCluster);
  let namespace: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
  });

  async function tokenOf(pod: string): Promise<string> {
    const serviceAccount = 'gatehouse-proxy';
    return await cluster().proxyToken({ namespace, serviceAccount, pod, audience: AUDIENCE });
  }

  async function review(token: string, audience: string): Promise<unknown> {
    const answer = await cluster().admin.request('POST', TOKEN_REVIEWS, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [audience] },
    });
    return (answer as { readonly status: unknown }).status;
  }

  /** An API server reads pods from a cache, so it learns of a deletion a moment later. */
  async function expectInvalid(token: string): Promise<void> {
    await eventually('the token is invalid', async () => {
      const status = await review(token, AUDIENCE);
      return (status as { readonly authenticated?: boolean }).authenticated !== true;
    });
  }

  test('are reviewed with their ServiceAccount, audience and pod', async () => {
    const token = await tokenOf('proxy-1');
    const pod = (await cluster().admin.request('GET', `${coreIn(namespace, 'pods')}/proxy-1`)) as {
      readonly metadata: { readonly uid: string };
    };

    expect(await review(token, AUDIENCE)).toMatchObject({
      authenticated: true,
      audiences: [AUDIENCE],
      user: {
        username: `system:serviceaccount:${namespace}:gatehouse-proxy`,
        groups: expect.arrayContaining(['system:serviceaccounts']) as unknown,
        extra: {
          'authentication.kubernetes.io/pod-name': ['proxy-1'],
          'authentication.kubernetes.io/pod-uid': [pod.metadata.uid],
        },
      },
    });
  });

  test('are not authenticated for another audience', async () => {
    const status = await review(await tokenOf('proxy-1'), 'somebody-else');

    expect(status).not.toMatchObject({ authenticated: true });
  });

  test('are not accepted by the API server itself', async () => {
    const token = await tokenOf('proxy-1');
    const kubeconfig = await cluster().kubeconfigFor(namespace, 'gatehouse-proxy');
    await replaceToken(kubeconfig, token);
    await using client = await createAdminClient(kubeconfig);

    await expect(client.request('GET', routesIn(namespace))).rejects.toMatchObject({
      code: 401,
      reason: 'Unauthorized',
    });
  });

  test('are invalid once their pod is deleted', async () => {
    const token = await tokenOf('proxy-1');
    await cluster().admin.request(
      'DELETE',
      `${coreIn(namespace, 'pods')}/proxy-1?gracePeriodSeconds=0`,
    );

    await expectInvalid(token);
  });

  test('are invalid for a later pod of the same name', async () => {
    const token = await tokenOf('proxy-1');
    await cluster().admin.request(
      'DELETE',
      `${coreIn(namespace, 'pods')}/proxy-1?gracePeriodSeconds=0`,
    );
    const next = await tokenOf('proxy-1');

    await expectInvalid(token);
    expect(await review(next, AUDIENCE)).toMatchObject({ authenticated: true });
  });

  test('that are forged are not authenticated', async () => {
    expect(await review('made.up.token', AUDIENCE)).not.toMatchObject({ authenticated: true });
  });

  test('are bound only to pods of their ServiceAccount', async () => {
    await tokenOf('proxy-1');
    await cluster().kubeconfigFor(namespace, 'other');
    const request = cluster().admin.request(
      'POST',
      `${coreIn(namespace, 'serviceaccounts')}/other/token`,
      {
        spec: {
          audiences: [AUDIENCE],
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'proxy-1' },
        },
      },
    );

    await expect(request).rejects.toMatchObject({ code: 400 });
  });
});
