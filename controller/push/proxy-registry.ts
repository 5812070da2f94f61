import type { NackError } from '../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { ProxyReport } from './publication.ts';

/** What the leader knows of a proxy. */
export interface ProxyRecord {
  readonly id: string;
  isConnected: boolean;
  isReady: boolean;
  isDraining: boolean;
  /** It has not answered a snapshot for long. */
  isSlow: boolean;
  /** The newest snapshot that it said it serves, if we published it; without, it does not count. */
  acknowledged: SnapshotPosition | undefined;
  errors: readonly NackError[];
}

/** The proxies of a leadership: those that are connected, and for a time those that were. */
export class ProxyRegistry {
  readonly #records = new Map<string, ProxyRecord>();

  /** The record of a proxy; it is made for one that is new. */
  enter(id: string): ProxyRecord {
    const known = this.#records.get(id);
    if (known !== undefined) return known;
    const record: ProxyRecord = {
      id,
      isConnected: false,
      isReady: false,
      isDraining: false,
      isSlow: false,
      acknowledged: undefined,
      errors: [],
    };
    this.#records.set(id, record);
    return record;
  }

  remove(id: string): void {
    this.#records.delete(id);
  }

  /** The oldest sequence that a proxy that counts has acknowledged; undefined: none counts. */
  get slowest(): number | undefined {
    const sequences = this.#sequences();
    return sequences.length === 0 ? undefined : Math.min(...sequences);
  }

  /** How many proxies count, and how many of them have the snapshot of a sequence or a newer one. */
  count(sequence: number): { readonly acknowledged: number; readonly proxies: number } {
    const sequences = this.#sequences();
    const acknowledged = sequences.filter((each) => each >= sequence).length;
    return { acknowledged, proxies: sequences.length };
  }

  report(newest: SnapshotPosition): readonly ProxyReport[] {
    return [...this.#records.values()].map((record) => reportOf(record, newest));
  }

  #sequences(): readonly number[] {
    const sequences: number[] = [];
    for (const { acknowledged, isDraining } of this.#records.values()) {
      if (acknowledged !== undefined && !isDraining) sequences.push(acknowledged.sequence);
    }
    return sequences;
  }
}

function reportOf(record: ProxyRecord, newest: SnapshotPosition): ProxyReport {
  const { id, isConnected, isReady, isDraining, isSlow, acknowledged: position, errors } = record;
  const isNewest = position?.epoch === newest.epoch && position.sequence === newest.sequence;
  return {
    id,
    isConnected,
    isReady: isConnected && isReady && !isSlow,
    isDraining,
    position,
    isSynced: isNewest,
    errors,
  };
}
