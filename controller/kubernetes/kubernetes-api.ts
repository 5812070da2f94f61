import type { ClusterIssuer } from './cluster-issuer.ts';
import type { KubernetesObject } from './objects.ts';

/** A type of resource of the API server. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

/** The objects of a namespace, or of all namespaces. */
export interface Scope {
  readonly namespace?: string;
  /** Only the object of this name. */
  readonly name?: string;
}

/** A page of a list. */
export interface ObjectPage {
  readonly items: readonly KubernetesObject[];
  readonly resourceVersion: string;
  /** The token of the next page; undefined on the last page. */
  readonly continueAt: string | undefined;
}

/** An event of a watch. A `BOOKMARK` only advances the version. */
export type WatchEvent =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
      readonly object: KubernetesObject;
    }
  | { readonly type: 'ERROR'; readonly error: KubernetesApiError };

/** A request that the API server refused, with the code and reason of its `Status`. */
export class KubernetesApiError extends Error {
  override readonly name = 'KubernetesApiError';
  readonly code: number;
  readonly reason: string;
  /** Seconds to wait before a retry; undefined if the server does not specify them. */
  readonly retryAfter: number | undefined;

  constructor(
    {
      code,
      reason,
      retryAfter,
    }: { readonly code: number; readonly reason: string; readonly retryAfter?: number | undefined },
    message: string,
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.retryAfter = retryAfter;
  }
}

/**
 * The API server, with the credentials of this process.
 *
 * Every method rejects with a `KubernetesApiError` if the server refuses the request, and with another
 * error if it cannot be reached. Names and namespaces are encoded in paths.
 */
export interface KubernetesApi {
  /** Returns one page of objects. With `resourceVersion` '0' they may be of any age. */
  list(
    type: ResourceType,
    scope: Scope,
    page?: {
      readonly limit?: number;
      readonly continueAt?: string;
      readonly resourceVersion?: string;
      readonly signal?: AbortSignal;
    },
  ): Promise<ObjectPage>;
  /** Iterates over the changes since a version, with bookmarks, until the server ends the watch. */
  watch(
    type: ResourceType,
    scope: Scope,
    options: {
      readonly resourceVersion: string;
      readonly timeoutSeconds: number;
      /** Ends the iteration without an error. */
      readonly signal: AbortSignal;
      /** Called when the server accepted the watch, before its first event. */
      readonly onOpen?: () => void;
    },
  ): AsyncIterable<WatchEvent>;
  /** `namespace` is absent for types without namespaces. */
  get(
    type: ResourceType,
    place: { readonly namespace?: string; readonly name: string },
  ): Promise<KubernetesObject>;
  create(
    type: ResourceType,
    namespace: string | undefined,
    object: object,
  ): Promise<KubernetesObject>;
  /** Replaces an object. Rejects with 409 unless its `resourceVersion` is the newest. */
  replace(
    type: ResourceType,
    place: { readonly namespace?: string; readonly name: string },
    object: object,
  ): Promise<KubernetesObject>;
  /**
   * Applies a status as field manager `gatehouse`, forced. With a `uid`, most servers respond with 409
   * if the object of that name has a different one; some ignore it.
   */
  applyStatus(
    type: ResourceType,
    place: { readonly namespace: string; readonly name: string; readonly uid?: string },
    status: object,
  ): Promise<KubernetesObject>;
  /**
   * Reads who issues the tokens of ServiceAccounts. Rejects with an `UnusableIssuerError` if the server
   * names no https issuer or no key.
   */
  readIssuer(signal: AbortSignal): Promise<ClusterIssuer>;
}
