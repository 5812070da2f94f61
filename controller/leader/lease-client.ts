import { inTime, type Clock } from '../../shared/runtime/clock.ts';
import { CONFLICT, NOT_FOUND } from '../kubernetes/error-codes.ts';
import { KubernetesApiError, type KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import { LEASES } from '../kubernetes/resource-types.ts';
import type { Lease } from './lease.ts';
import { parseLease } from './parse-lease.ts';

/** The part of the API that the election needs. */
export type LeaseApi = Pick<KubernetesApi, 'get' | 'create' | 'replace'>;

/** Whether another client wrote the Lease first. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.code === CONFLICT;
}

/** Whether the Lease does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.code === NOT_FOUND;
}

/**
 * One Lease on the API server.
 *
 * A call rejects when it gets no response in time. A write may still take effect later; its
 * `resourceVersion` keeps it from undoing a later write.
 */
export class LeaseClient {
  readonly #api: LeaseApi;
  readonly #place: { readonly namespace: string; readonly name: string };
  readonly #limit: { readonly clock: Clock; readonly timeoutMs: number };

  constructor(
    api: LeaseApi,
    place: { readonly namespace: string; readonly name: string },
    limit: { readonly clock: Clock; readonly timeoutMs: number },
  ) {
    this.#api = api;
    this.#place = place;
    this.#limit = limit;
  }

  /** Resolves with undefined when the Lease does not exist. */
  async get(): Promise<Lease | undefined> {
    try {
      return await this.#request(this.#api.get(LEASES, this.#place));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Rejects with a conflict when the Lease exists. */
  create(lease: Lease): Promise<Lease> {
    return this.#request(this.#api.create(LEASES, this.#place.namespace, lease));
  }

  /** Rejects with a conflict unless `lease` is derived from the newest version. */
  replace(lease: Lease): Promise<Lease> {
    return this.#request(this.#api.replace(LEASES, this.#place, lease));
  }

  async #request(response: Promise<KubernetesObject>): Promise<Lease> {
    return parseLease(await inTime(this.#limit.clock, this.#limit.timeoutMs, response));
  }
}
