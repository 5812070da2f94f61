/** What a test can ask of an API server. */
export interface ClusterCapabilities {
  /** Rules in CEL are held at admission. */
  readonly cel: boolean;
  /** Unknown fields are refused where a request asks for that (`fieldValidation=Strict`). */
  readonly strictFieldValidation: boolean;
  /** Requests are authorized by RBAC objects. */
  readonly rbac: boolean;
  /** TokenRequest and TokenReview work for ServiceAccounts, bound to pods. */
  readonly tokens: boolean;
  /** Faults can be provoked (`faults`). */
  readonly faults: boolean;
  /** A namespace that is deleted goes away, with everything in it. */
  readonly namespaceController: boolean;
  /** Lists come as the table that kubectl shows, to who asks for it. */
  readonly tables: boolean;
}

/** An API server for tests, empty but for our CRDs. Disposing of it ends it. */
export interface Cluster extends AsyncDisposable {
  readonly kind: 'fake' | 'envtest' | 'k3s' | 'existing';
  readonly capabilities: ClusterCapabilities;
  /** Path of a kubeconfig whose user may do everything. */
  readonly adminKubeconfig: string;
  /** Writes a kubeconfig for a ServiceAccount, with a token of its own, and returns its path. */
  kubeconfigFor(namespace: string, serviceAccount: string): Promise<string>;
  /**
   * A token of a ServiceAccount for `audience`, bound to a pod of that name (both are made when
   * missing), as the kubelet projects it.
   */
  proxyToken(options: {
    readonly namespace: string;
    readonly serviceAccount: string;
    readonly pod: string;
    readonly audience: string;
  }): Promise<string>;
  /** Requests as the administrator. */
  readonly admin: AdminClient;
  /** Only with `capabilities.faults`. */
  readonly faults: ClusterFaults;
}

/** A plain client for tests: JSON in, JSON out. Paths as in `/apis/gatehouse.dev/v1alpha1/routes`. */
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

/** What can go wrong with an API server. Each lasts until it is taken back by `heal`. */
export interface ClusterFaults {
  /** Refuses connections, and breaks those there are. */
  goAway(): Promise<void>;
  /** Goes on accepting connections and answers nothing. */
  hang(): void;
  /** Ends every watch under way, without a word. */
  cutWatches(): void;
  /** Answers the next watch of every client with 410 Gone, as after a compaction. */
  compact(): void;
  /** Answers this part (0 to 1) of all requests with that status. */
  fail(status: number, part: number): void;
  /** Everything well again. */
  heal(): Promise<void>;
  /** What was asked so far: who, verb, resource (with its subresource), name. */
  readonly requests: readonly {
    readonly user: string;
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly namespace: string;
    readonly name: string;
  }[];
}
