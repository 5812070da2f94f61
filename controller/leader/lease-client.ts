import { inTime, type Clock } from '../../shared/runtime/clock.ts';
import { KubernetesApiError, type KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { LEASES } from '../kubernetes/resource-types.ts';
import type { Lease } from './lease.ts';

/** What the election asks of the API server. */
export type LeaseApi = Pick<KubernetesApi, 'get' | 'create' | 'replace'>;

const NOT_FOUND = 404;
const CONFLICT = 409;

/** Somebody else wrote the Lease first. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.code === CONFLICT;
}

/** There is no such Lease. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.code === NOT_FOUND;
}

/**
 * One Lease on the API server.
 *
 * A call rejects when it is not answered in time. A write may have its effect later nevertheless: the
 * `resourceVersion` keeps it from undoing what was written after it.
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

  /** Undefined when there is none. */
  async get(): Promise<Lease | undefined> {
    try {
      return await this.#inTime(this.#api.get(LEASES, this.#place));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Rejects with a conflict when there is one already. */
  create(lease: Lease): Promise<Lease> {
    return this.#inTime(this.#api.create(LEASES, this.#place.namespace, lease));
  }

  /** Rejects with a conflict unless `lease` is made of the newest version. */
  replace(lease: Lease): Promise<Lease> {
    return this.#inTime(this.#api.replace(LEASES, this.#place, lease));
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    return inTime(this.#limit.clock, this.#limit.timeoutMs, answer);
  }
}
