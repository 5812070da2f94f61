import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../../free-port.ts';
import { createThrowawayAuthority } from '../../throwaway-authority.ts';
import { createAdminClient } from '../admin-client.ts';
import type { Cluster, ClusterCapabilities } from '../cluster.ts';
import { apiToken, podToken } from '../service-account-tokens.ts';
import { writeKubeconfig } from '../write-kubeconfig.ts';
import { ApiServer } from './api-server.ts';
import { Faults } from './faults.ts';
import { Listener } from './listener.ts';
import { STANDING_NAMESPACES } from './object-remover.ts';
import { ObjectWriter } from './object-writer.ts';
import { NAMESPACES, resourceDefinitions } from './resource-definitions.ts';
import { ResourceRequests } from './resource-requests.ts';
import { Store } from './store.ts';
import { ServiceAccountTokens } from './tokens.ts';

export interface FakeClusterOptions {
  /** Whether the Gateway API's ReferenceGrant is installed. Defaults to true. */
  readonly referenceGrants?: boolean;
  /** Interval of bookmarks for watches that ask for them. */
  readonly bookmarkIntervalMs?: number;
  /**
   * Whether a watch from a version that is too old gets a 410. By default it begins, and its first line
   * is that error.
   */
  readonly refusesExpiredWatches?: boolean;
  /** Number of changes of each resource that a watch can resume from. */
  readonly historyLimit?: number;
  /** The clock of the API server: it dates objects, and ends tokens. */
  readonly now?: () => number;
}

export const FAKE_CAPABILITIES: ClusterCapabilities = {
  rbac: true,
  tokens: true,
  faults: true,
  namespaceController: true,
  tables: false,
  definitions: false,
};

const DEFAULT_BOOKMARK_INTERVAL_MS = 60_000;
const DEFAULT_HISTORY_LIMIT = 20_000;

/**
 * Starts an API server in this process: strict where a real one is strict, and able to fail in every
 * way that a test asks for.
 */
export async function startFakeCluster({
  referenceGrants = true,
  bookmarkIntervalMs = DEFAULT_BOOKMARK_INTERVAL_MS,
  refusesExpiredWatches = false,
  historyLimit = DEFAULT_HISTORY_LIMIT,
  now = Date.now,
}: FakeClusterOptions = {}): Promise<Cluster> {
  const definitions = resourceDefinitions(referenceGrants);
  const store = new Store(definitions, historyLimit);
  makeNamespaces(store, now);
  const tokens = new ServiceAccountTokens(store, now);
  const adminToken = randomBytes(32).toString('base64url');

  const faults: Faults = new Faults({
    stopListening: async () => await listener.close(),
    listenAgain: async () => await listener.open(),
    forgetHistory: () => store.compact(),
  });
  const resources = new ResourceRequests(store, {
    now,
    bookmarkIntervalMs,
    refusesExpiredWatches,
    onWatch: (watch) => faults.track(watch),
  });
  const apiServer = new ApiServer({
    store,
    definitions,
    resources,
    tokens,
    faults,
    adminToken,
    now,
  });
  const port = await freePort();
  const authority = createThrowawayAuthority();
  const listener = new Listener(port, authority.issue(['127.0.0.1']), (request, response) => {
    void apiServer.handle(request, response);
  });
  await listener.open();

  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-fake-cluster-'));
  const server = {
    server: `https://127.0.0.1:${String(port)}`,
    'certificate-authority-data': Buffer.from(authority.ca).toString('base64'),
  };
  const adminKubeconfig = join(directory, 'admin.kubeconfig');
  await writeKubeconfig(adminKubeconfig, server, { token: adminToken });
  const admin = await createAdminClient(adminKubeconfig);

  return {
    kind: 'fake',
    capabilities: FAKE_CAPABILITIES,
    adminKubeconfig,
    kubeconfigFor: async (namespace, serviceAccount) => {
      const path = join(directory, `${namespace}.${serviceAccount}.kubeconfig`);
      const token = await apiToken(admin, { namespace, serviceAccount });
      await writeKubeconfig(path, server, { token });
      return path;
    },
    proxyToken: async (options) => await podToken(admin, options),
    admin,
    faults,
    [Symbol.asyncDispose]: async () => {
      await admin[Symbol.asyncDispose]();
      await listener.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function makeNamespaces(store: Store, now: () => number): void {
  const writer = new ObjectWriter(store, NAMESPACES, now);
  for (const name of STANDING_NAMESPACES) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    writer.create(namespace, {
      namespace: '',
      name: '',
      subresource: '',
      manager: 'kube-apiserver',
      dryRun: false,
      fieldValidation: 'Strict',
    });
  }
}
