import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { connectKubernetes } from '../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../controller/kubernetes/kubeconfig-access.ts';
import { SECRETS } from '../../controller/kubernetes/resource-types.ts';
import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import type { Cluster, ClusterFaults } from '../support/kubernetes/cluster.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import {
  INSTALL_NAMESPACE,
  PROXY_NAMESPACE,
  TEAM,
} from '../support/kubernetes/gateway-manifests.ts';
import { coreIn, roleBindingsIn } from '../support/kubernetes/paths.ts';
import { SERVICE_PORT } from '../support/kubernetes/service-manifests.ts';
import { createThrowawayAuthority } from '../support/throwaway-authority.ts';

const RBAC = join(import.meta.dirname, '../../controller/manifests/rbac.yaml');
const CONTROLLER = `system:serviceaccount:${INSTALL_NAMESPACE}:gatehouse-controller`;

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  /** Of a binding. */
  readonly roleRef?: { readonly name: string };
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    /** Paths that are not resources. */
    readonly nonResourceURLs?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** A verb on a resource, in one namespace; an empty namespace stands for all. */
interface Right {
  readonly what: string;
  readonly namespace: string;
}

describe('rights', () => {
  const opened = new AsyncDisposableStack();
  let cluster: Cluster;
  let gateway: ClusterGateway;
  let rights: readonly Right[];

  beforeAll(async () => {
    rights = readRights(await readFile(RBAC, 'utf8'));
    ({ cluster, gateway } = opened.use(
      await startClusterWorld(startFakeCluster, { controllers: 2, proxies: 1 }),
    ));
    await useEverything();
  });
  afterAll(() => opened.disposeAsync());

  test('grant everything that the controllers request', () => {
    const refused = requestsOf(CONTROLLER).filter(
      (request) => !rights.some((right) => grants(right, request)),
    );
    expect(refused).toEqual([]);
    expect(gateway.controllers.flatMap(({ log }) => log).filter(isTrouble)).toEqual([]);
  });

  test('grant nothing that the controllers never request', () => {
    const requests = requestsOf(CONTROLLER);
    const unused = rights.filter((right) => !requests.some((request) => grants(right, request)));
    expect(rights.length).toBeGreaterThan(10);
    expect(unused).toEqual([]);
  });

  // Attack: with the sealing keys, whoever takes over a controller could make tokens of any user.
  test('reach Secrets in the namespace of the settings only, unless another one lets them', async () => {
    const secrets = rights.filter(({ what }) => what.endsWith(' /secrets'));
    expect(new Set(secrets.map(({ namespace }) => namespace))).toEqual(
      new Set([INSTALL_NAMESPACE]),
    );
    const api = connectKubernetes(
      kubeconfigAccess(await cluster.kubeconfigFor(INSTALL_NAMESPACE, 'gatehouse-controller')),
    );
    const ofSettings = await api.list(SECRETS, { namespace: INSTALL_NAMESPACE });
    expect(ofSettings.items.map(({ metadata }) => metadata.name)).toContain('company');
    for (const scope of [{ namespace: PROXY_NAMESPACE }, { namespace: TEAM }, {}]) {
      await expect(api.list(SECRETS, scope)).rejects.toMatchObject({ code: 403 });
    }
  });

  test('are empty for proxies, which send the API server no requests', () => {
    const users = new Set(cluster.faults.requests.map(({ user }) => user));
    expect([...users].sort()).toEqual(['admin', CONTROLLER]);
  });

  test('reach the Secret of a Route as soon as its namespace lets them', async () => {
    await gateway.admin.request('POST', coreIn(TEAM, 'secrets'), {
      metadata: { name: 'upstream', labels: { 'gatehouse.dev/referable': 'true' } },
      data: { 'client-secret': Buffer.from('secret').toString('base64') },
    });
    const clientSecretRef = { name: 'upstream', key: 'client-secret' };
    await gateway.applyRoute('tickets', {
      from: 'https://tickets.example.test',
      policy: { allow: { or: [{ domain: 'example.test' }] } },
      to: 'https://mcp.example.test',
      mcp: { server: { upstreamOauth2: { clientId: 'gatehouse', clientSecretRef } } },
    });
    await gateway.untilCondition('tickets', 'ResolvedRefs', 'False/SecretNotFound');
    await gateway.untilCondition('tickets', 'Programmed', 'True/Programmed');
    await gateway.admin.request('POST', roleBindingsIn(TEAM), {
      metadata: { name: 'gatehouse-controller-route-secrets' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'gatehouse-controller-route-secrets',
      },
      subjects: [
        { kind: 'ServiceAccount', name: 'gatehouse-controller', namespace: INSTALL_NAMESPACE },
      ],
    });
    await gateway.untilCondition('tickets', 'ResolvedRefs', 'True/ResolvedRefs');

    expect(await gateway.condition('tickets', 'UpstreamAuthReady')).toBe('False/UpstreamNotListed');
  });

  /** Uses every feature for which the controller needs the API server. */
  async function useEverything(): Promise<void> {
    await gateway.admin.request('POST', coreIn(INSTALL_NAMESPACE, 'secrets'), {
      metadata: { name: 'company', labels: { 'gatehouse.dev/referable': 'true' } },
      data: { 'client-secret': Buffer.from('secret').toString('base64') },
    });
    await gateway.admin.request('POST', coreIn(INSTALL_NAMESPACE, 'configmaps'), {
      metadata: { name: 'company-ca' },
      data: { 'ca.crt': createThrowawayAuthority().ca },
    });
    await gateway.changeSettings({
      allowedRoutes: {
        namespaces: {
          from: 'Selector',
          selector: { matchLabels: { 'kubernetes.io/metadata.name': 'team' } },
        },
      },
      defaultCertificateRef: { name: 'not-there-yet' },
      identityProviders: [
        {
          caRef: { name: 'company-ca' },
          name: 'company',
          issuerUrl: 'https://idp.example.test',
          clientId: 'gatehouse',
          clientSecretRef: { name: 'company', key: 'client-secret' },
        },
        { name: 'cluster', issuerUrl: 'kubernetes:///', audiences: ['gateway'] },
      ],
    });
    await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
    await gateway.applyRoute('backend', { backendRefs: [{ name: 'app', port: SERVICE_PORT }] });
    await gateway.untilCondition('backend', 'Programmed', 'True/Programmed');
    await gateway.applyRoute('first', { regex: '(?=a)$' });
    await gateway.untilCondition('first', 'Accepted', 'False/InvalidRegex');
    await eventually('an Event is written', () =>
      requestsOf(CONTROLLER).some(({ resource }) => resource === 'events'),
    );
    await loseHost('gone', 'create');
    await loseHost('gone-too', 'update');
    // A leader that stops hands over, which needs the rights on the Lease.
    await (await gateway.leader()).terminate();
    await gateway.applyRoute('second');
    await gateway.untilServed('second');
  }

  /** Deletes the only Route on a host, which is then held. */
  async function loseHost(name: string, verb: string): Promise<void> {
    await gateway.applyRoute(name);
    await gateway.untilServed(name);
    await gateway.deleteRoute(name);
    await eventually('the held host is stored', () =>
      requestsOf(CONTROLLER).some(
        (request) => request.resource === 'configmaps' && request.verb === verb,
      ),
    );
  }

  function requestsOf(name: string): ClusterFaults['requests'] {
    return cluster.faults.requests.filter(({ user }) => user === name);
  }
});

function readRights(manifests: string): readonly Right[] {
  // Our own manifest, which API servers check.
  const roles = parseAllDocuments(manifests).map((document) => document.toJS() as Role);
  const bound = new Set(roles.flatMap(({ roleRef }) => roleRef?.name ?? []));
  const granted = roles.filter(({ metadata }) => bound.has(metadata.name));
  return granted.flatMap(({ metadata, rules = [] }) =>
    rules.flatMap(({ apiGroups = [''], resources = [], nonResourceURLs = [], verbs }) =>
      apiGroups.flatMap((group) =>
        [...resources, ...nonResourceURLs].flatMap((resource) =>
          verbs.map((verb) => ({
            what: `${verb} ${group}/${resource}`,
            namespace: metadata.namespace ?? '',
          })),
        ),
      ),
    ),
  );
}

function grants({ what, namespace }: Right, request: ClusterFaults['requests'][number]): boolean {
  const isHere = namespace === '' || namespace === request.namespace;
  return isHere && what === `${request.verb} ${request.group}/${request.resource}`;
}

function isTrouble({ level }: Readonly<Record<string, unknown>>): boolean {
  return level === 'warn' || level === 'error';
}
