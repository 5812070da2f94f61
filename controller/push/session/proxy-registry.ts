import type { RejectedEntry } from '../../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SentSnapshot } from '../content/overlay.ts';
import type { ProxyReport } from '../publication.ts';
import type { PushTiming } from '../push-timing.ts';
import { Refusals } from './refusals.ts';

/** What the leader knows of a proxy. */
export interface ProxyRecord {
  readonly id: string;
  isConnected: boolean;
  isReady: boolean;
  isDraining: boolean;
  /** It has not answered a snapshot for long. */
  isSlow: boolean;
  /** It came with a snapshot that this leadership did not publish. */
  hasForeign: boolean;
  /** It still serves that, and counts as a proxy that has nothing of ours. */
  isBehind: boolean;
  /** The newest snapshot that it said it serves, if we published it. */
  acknowledged: SnapshotPosition | undefined;
  /** What it may serve of what it was sent: the last that it acknowledged, and the last of all. */
  sent: readonly SentSnapshot[];
  readonly refusals: Refusals;
  /** Of its last answer. */
  errors: readonly RejectedEntry[];
}

/** A proxy, and its message on what it refuses. */
export interface Refused {
  readonly proxy: string;
  readonly message: string;
}

/** The proxies of a leadership: those that are connected, and for a time those that were. */
export class ProxyRegistry {
  readonly #records = new Map<string, ProxyRecord>();
  readonly #timing: PushTiming;

  constructor(timing: PushTiming) {
    this.#timing = timing;
  }

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
      hasForeign: false,
      isBehind: false,
      acknowledged: undefined,
      sent: [],
      refusals: new Refusals(this.#timing),
      errors: [],
    };
    this.#records.set(id, record);
    return record;
  }

  remove(id: string): void {
    this.#records.delete(id);
  }

  /** Who refuses the content under a key, and why. */
  refusalOf(key: string, hash: string): Refused | undefined {
    for (const { id, isDraining, refusals } of this.#records.values()) {
      const message = isDraining ? undefined : refusals.messageOn(key, hash);
      if (message !== undefined) return { proxy: id, message };
    }
    return undefined;
  }

  /** Nothing is sent again any more. */
  close(): void {
    for (const { refusals } of this.#records.values()) refusals.pause();
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
    for (const { acknowledged, isBehind, isDraining } of this.#records.values()) {
      if (isDraining) continue;
      if (acknowledged !== undefined) sequences.push(acknowledged.sequence);
      else if (isBehind) sequences.push(0);
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
    isSynced: isNewest && errors.length === 0,
    errors,
  };
}
