import { isDeepStrictEqual } from 'node:util';

import type { StoredResource } from '../kubernetes/stored-resources.ts';
import { compareStatus, type Status } from './compare-status.ts';

/** The status of one resource as the API server has it. */
export interface ObservedStatus<S extends Status> {
  readonly uid: string | undefined;
  readonly status: S | undefined;
  /**
   * The status that was written last. It is not written again, even if the API server refused it or
   * stored a different one.
   */
  readonly triedStatus?: S;
}

/** The statuses of resources of one kind as the API server has them, by key. */
export class ObservedStatuses<S extends Status> {
  readonly #observed = new Map<string, ObservedStatus<S>>();

  get(key: string): ObservedStatus<S> | undefined {
    return this.#observed.get(key);
  }

  /** Records what the watch reported. Returns whether the status differs from the known one. */
  observe(key: string, { metadata: { uid }, status }: StoredResource<S>): boolean {
    const known = this.#observed.get(key);
    const isSameResource = known !== undefined && known.uid === uid;
    if (isSameResource && isDeepStrictEqual(known.status, status)) return false;
    this.#observed.set(key, { uid, status });
    return true;
  }

  /** Records what the API server has after a write of `triedStatus`. */
  record(key: string, observed: Required<ObservedStatus<S>>): void {
    this.#observed.set(key, observed);
  }

  forget(key: string): void {
    this.#observed.delete(key);
  }
}

/** Whether a status differs from the stored one and was not tried already. */
export function isWorthWriting<S extends Status>(
  { status, triedStatus }: ObservedStatus<S>,
  wanted: S,
): boolean {
  if (compareStatus(status, wanted) === 'none') return false;
  return triedStatus === undefined || compareStatus(triedStatus, wanted) !== 'none';
}
