import { randomUUID } from 'node:crypto';

import type { RenewalClaim, Versioned } from '../renewals.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** A claim; without a claim id, the rest after a failed renewal. */
interface Renewal {
  readonly claimId?: string;
}

/** Claims of one process, by the id of the record. See `Renewals`. */
export class MemoryRenewalClaims {
  readonly #renewals: ExpiringMap<Renewal>;

  constructor(now: Now) {
    this.#renewals = new ExpiringMap(now);
  }

  claim<Record extends Versioned>(
    id: string,
    record: Record | null,
    leaseSeconds: number,
  ): RenewalClaim<Record> | null {
    if (record === null) return null;
    const renewal = this.#renewals.get(id);
    if (renewal !== null) return { kind: renewal.claimId === undefined ? 'resting' : 'busy' };
    const claimId = randomUUID();
    this.#renewals.set(id, { claimId }, leaseSeconds);
    return { kind: 'claimed', claimId, ...record };
  }

  extend(id: string, claimId: string, leaseSeconds: number): boolean {
    const isHeld = this.#renewals.get(id)?.claimId === claimId;
    if (isHeld) this.#renewals.set(id, { claimId }, leaseSeconds);
    return isHeld;
  }

  release(id: string, claimId: string, restSeconds: number): void {
    if (this.#renewals.get(id)?.claimId !== claimId) return;
    if (restSeconds > 0) this.#renewals.set(id, {}, restSeconds);
    else this.end(id);
  }

  end(id: string): void {
    this.#renewals.delete(id);
  }
}
