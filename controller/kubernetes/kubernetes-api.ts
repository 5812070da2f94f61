import type { KubernetesObject } from './objects.ts';

/** A kind of resource of the API server. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

/** Where to look for objects: a namespace, or all of them. */
export interface Scope {
  readonly namespace?: string;
  /** The only object of this name. */
  readonly name?: string;
}

export interface ObjectPage {
  readonly items: readonly KubernetesObject[];
  readonly resourceVersion: string;
  /** Where the next page begins; undefined when there is none. */
  readonly continueAt: string | undefined;
}

/** A line of a watch. `BOOKMARK` only moves the version on. */
export type WatchEvent =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
      readonly object: KubernetesObject;
    }
  | { readonly type: 'ERROR'; readonly error: KubernetesApiError };

/** The API server refused a request, with the code and reason of its `Status`. */
export class KubernetesApiError extends Error {
  override readonly name = 'KubernetesApiError';
  readonly code: number;
  readonly reason: string;
  /** Seconds it asks to wait; undefined when it does not. */
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
 * The API server, with the identity of this process.
 *
 * Everything rejects with a `KubernetesApiError` when the server refuses, and with another error when
 * it cannot be reached. Names and namespaces are encoded in paths.
 */
export interface KubernetesApi {
  /** One page of objects. With `resourceVersion` '0' they may be of any age. */
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
  /** Changes since a version, with bookmarks, until the server ends the watch. */
  watch(
    type: ResourceType,
    scope: Scope,
    options: {
      readonly resourceVersion: string;
      readonly timeoutSeconds: number;
      /** Ends the iteration, which is no error. */
      readonly signal: AbortSignal;
      /** The server agreed; events may take their time. */
      readonly onOpen?: () => void;
    },
  ): AsyncIterable<WatchEvent>;
  /** `namespace` is left out for what has none. */
  get(
    type: ResourceType,
    place: { readonly namespace?: string; readonly name: string },
  ): Promise<KubernetesObject>;
  create(
    type: ResourceType,
    namespace: string | undefined,
    object: object,
  ): Promise<KubernetesObject>;
  /** Replaces an object; its `resourceVersion` must be the newest, else 409. */
  replace(
    type: ResourceType,
    place: { readonly namespace?: string; readonly name: string },
    object: object,
  ): Promise<KubernetesObject>;
  /**
   * Server-side apply of `status` as field manager `gatehouse`, forced. With a `uid`, a server
   * that heeds it answers 409 when the object of the name has another one; not all do.
   */
  applyStatus(
    type: ResourceType,
    place: { readonly namespace: string; readonly name: string; readonly uid?: string },
    status: object,
  ): Promise<KubernetesObject>;
}
