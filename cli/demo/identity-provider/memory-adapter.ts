import type { Adapter, AdapterPayload } from 'oidc-provider';

import { ExpiringMap } from '../../../proxy/cache/expiring-map.ts';

/** Keeps one kind of record of the identity provider in memory, as long as the demo runs. */
export class MemoryAdapter implements Adapter {
  readonly #records = new ExpiringMap<AdapterPayload>(Date.now);
  readonly #idsByUid = new ExpiringMap<string>(Date.now);

  upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<undefined> {
    const expiresAt = expiryIn(expiresIn);
    this.#records.setUntil(id, payload, expiresAt);
    if (payload.uid !== undefined) this.#idsByUid.setUntil(payload.uid, id, expiresAt);
    return Promise.resolve(undefined);
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(this.#records.get(id) ?? undefined);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const id = this.#idsByUid.get(uid);
    return id === null ? Promise.resolve(undefined) : this.find(id);
  }

  /** Codes that a person types belong to the device flow, which the demo does not have. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  consume(id: string): Promise<undefined> {
    const payload = this.#records.get(id);
    if (payload !== null) this.#records.replace(id, { ...payload, consumed: true });
    return Promise.resolve(undefined);
  }

  destroy(id: string): Promise<undefined> {
    this.#records.delete(id);
    return Promise.resolve(undefined);
  }

  revokeByGrantId(grantId: string): Promise<undefined> {
    this.#records.deleteWhere((payload) => payload.grantId === grantId);
    return Promise.resolve(undefined);
  }
}

function expiryIn(seconds: number | undefined): number {
  return seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + seconds * 1000;
}
