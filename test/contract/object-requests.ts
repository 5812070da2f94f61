import { beforeEach } from '@jest/globals';

import type { AdminClient, Cluster } from '../support/kubernetes/cluster.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { routesIn } from '../support/kubernetes/paths.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute } from '../support/resources.ts';

/** The members of a stored object that these tests read. */
export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Requests for objects in a namespace that each test has to itself. */
export interface ObjectRequests {
  readonly namespace: string;
  /** The path of the Routes of the namespace. */
  readonly routes: string;
  /** Applies YAML as `kubectl apply` does. */
  apply(yaml: string): Promise<unknown>;
  request(...request: Parameters<AdminClient['request']>): Promise<StoredObject>;
  createRoute(name?: string): Promise<StoredObject>;
  patch(path: string, body: unknown, contentType: string): Promise<StoredObject>;
}

/** Opens a cluster for all tests of the file, with a namespace for each. */
export function requestObjects(openCluster: () => Promise<Cluster>): ObjectRequests {
  const cluster = openForAll(openCluster);
  let namespace: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
  });

  // Every successful response is the object, except that of a deletion.
  const request: ObjectRequests['request'] = async (...request) =>
    (await cluster().admin.request(...request)) as StoredObject;
  return {
    get namespace() {
      return namespace;
    },
    get routes() {
      return routesIn(namespace);
    },
    request,
    apply: async (yaml) => await cluster().admin.apply(yaml),
    createRoute: async (name = 'app') =>
      await request('POST', routesIn(namespace), aRoute({}, { name, namespace })),
    patch: async (path, body, contentType) =>
      await request('PATCH', path, body, { 'content-type': contentType }),
  };
}
