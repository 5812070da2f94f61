/** Capabilities of an API server that tests can require. */
export interface ClusterCapabilities {
  /** Requests are authorized by RBAC objects. */
  readonly rbac: boolean;
  /** TokenRequest and TokenReview work for ServiceAccounts, bound to pods. */
  readonly tokens: boolean;
  /** Faults can be provoked (`faults`). */
  readonly faults: boolean;
  /** A deleted namespace disappears, with everything in it. */
  readonly namespaceController: boolean;
  /** Lists are sent as the table that kubectl shows, if a request asks for it. */
  readonly tables: boolean;
  /** Definitions can be read, and report what is wrong with them. */
  readonly definitions: boolean;
}

/** An API server for tests, empty except for our CRDs. Disposing of it stops it. */
export interface Cluster extends AsyncDisposable {
  readonly kind: 'fake' | 'envtest' | 'k3s' | 'existing';
  readonly capabilities: ClusterCapabilities;
  /** Path of a kubeconfig whose user may do everything. */
  readonly adminKubeconfig: string;
  /** Writes a kubeconfig for a ServiceAccount, with a token of its own, and returns its path. */
  kubeconfigFor(namespace: string, serviceAccount: string): Promise<string>;
  /**
   * Returns a token of a ServiceAccount for `audience`, bound to a pod of that name, as the kubelet
   * projects it. Creates both if they are missing.
   */
  proxyToken(options: {
    readonly namespace: string;
    readonly serviceAccount: string;
    readonly pod: string;
    readonly audience: string;
  }): Promise<string>;
  /** A client with the rights of the administrator. */
  readonly admin: AdminClient;
  /** Only with `capabilities.faults`. */
  readonly faults: ClusterFaults;
}

/** A plain client for tests: JSON in, JSON out. Paths are as in `/apis/gatehouse.dev/v1alpha1/routes`. */
export interface AdminClient {
  /** Rejects with an `ApiStatusError` (`code`, `reason`, `message`) for any status from 300 on. */
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<unknown>;
  /** Creates or replaces the objects of YAML documents (server-side apply, forced). */
  apply(manifests: string): Promise<void>;
}

/** Faults of an API server. Each lasts until `heal`. */
export interface ClusterFaults {
  /** Refuses connections, and breaks open ones. */
  goAway(): Promise<void>;
  /** Continues to accept connections, and answers nothing. */
  hang(): void;
  /** Ends every open watch without an event. */
  cutWatches(): void;
  /** Answers the next watch of every client with 410 Gone, as after a compaction. */
  compact(): void;
  /** Answers this part (0 to 1) of all requests with that status. */
  fail(status: number, part: number): void;
  /** Ends all faults. */
  heal(): Promise<void>;
  /** Requests so far: user, verb, resource (with its subresource), name. */
  readonly requests: readonly {
    readonly user: string;
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly namespace: string;
    readonly name: string;
  }[];
}
