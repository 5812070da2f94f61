import { expect, test } from '@jest/globals';
import { createLocalJWKSet, errors, jwtVerify, type JWK } from 'jose';

import type { ClusterIssuer } from '../../controller/kubernetes/cluster-issuer.ts';
import { connectKubernetes } from '../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../controller/kubernetes/kubeconfig-access.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { openForAll } from '../support/open-for-all.ts';

const AUDIENCE = 'https://gateway.example';
const NEVER = new AbortController().signal;

describeWithClusters(['tokens'], 'the issuer of a cluster', (openCluster) => {
  const cluster = openForAll(openCluster);

  async function readIssuer(kubeconfig: string): Promise<ClusterIssuer> {
    return await connectKubernetes(kubeconfigAccess(kubeconfig)).readIssuer(NEVER);
  }

  test('verifies the tokens of its ServiceAccounts', async () => {
    const namespace = await createNamespace(cluster());
    const { issuer, keys } = await readIssuer(cluster().adminKubeconfig);
    const token = await cluster().proxyToken({
      ...{ namespace, serviceAccount: 'agent', pod: 'agent-1', audience: AUDIENCE },
    });
    const keySet = createLocalJWKSet({ keys: keys as JWK[] });
    const verified = jwtVerify(token, keySet, { issuer, audience: AUDIENCE });

    await expect(verified).resolves.toMatchObject({
      payload: { sub: `system:serviceaccount:${namespace}:agent` },
    });
    const elsewhere = jwtVerify(token, keySet, { issuer, audience: 'https://other.example' });
    await expect(elsewhere).rejects.toBeInstanceOf(errors.JWTClaimValidationFailed);
  });

  test('has the audiences of the token by which the API server knows us', async () => {
    const namespace = await createNamespace(cluster());
    await cluster().admin.apply(readerManifest(namespace));
    const kubeconfig = await cluster().kubeconfigFor(namespace, 'reader');
    const { apiAudiences } = await readIssuer(kubeconfig);

    expect(apiAudiences).toContain('https://kubernetes.default.svc');
  });
});

/** Real API servers let every ServiceAccount read it, but not all distributions do. */
function readerManifest(namespace: string): string {
  const subject = `{ kind: ServiceAccount, name: reader, namespace: ${namespace} }`;
  return `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: issuer-reader }
rules: [{ nonResourceURLs: [/.well-known/openid-configuration, /openid/v1/jwks], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: issuer-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: issuer-reader }
subjects: [${subject}]
`;
}
